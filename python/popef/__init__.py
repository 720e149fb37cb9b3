"""Reads and writes PopEF containers: Reader, ModelBuilder, Writer and the value classes.

Metadata, Anchor and the other value classes have the accessor methods of C++, x() and setX(value);
readers have attributes. Errors are RuntimeError.
"""

from popef import _popef
from popef._popef import (
    Anchor,
    BlobType,
    BlobWriter,
    DataType,
    Error,
    ExecutableReader,
    FeedDataInfo,
    FeedReader,
    Metadata,
    Model,
    ModelBuilder,
    OpaqueReader,
    Option,
    ProgramFlow,
    Reader,
    TensorDataInfo,
    TensorInfo,
    TensorReader,
    TensorType,
    Writer,
    popefTypeToNumpyDType,
    sizeInBytes,
)

__all__ = [name for name in vars(_popef) if not name.startswith("_")]

# Where users find them: what tracebacks and repr say.
for _name in __all__:
    getattr(_popef, _name).__module__ = __name__
del _name
