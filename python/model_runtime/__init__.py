"""Runs PopEF containers: ModelRunner, its configuration and the memory of its requests."""

from model_runtime._model_runtime import (
    DataDesc,
    Device,
    DeviceConstraints,
    DeviceManager,
    DeviceWaitConfig,
    DeviceWaitStrategy,
    Error,
    RecoveryAction,
    RequestState,
    RequestTracepoint,
    application_runtime_error,
    recoverable_runtime_error,
    unknown_runtime_error,
)
from model_runtime.runner import ModelRunner, ModelRunnerConfig, OutputFutureMemory, PopefPaths
from model_runtime.views import InputMemoryView, OutputMemory, OutputMemoryView, TensorMemory

InputDesc = OutputDesc = DataDesc
OutputFutureMemoryView = OutputFutureMemory

__all__ = [
    "DataDesc",
    "Device",
    "DeviceConstraints",
    "DeviceManager",
    "DeviceWaitConfig",
    "DeviceWaitStrategy",
    "Error",
    "InputDesc",
    "InputMemoryView",
    "ModelRunner",
    "ModelRunnerConfig",
    "OutputDesc",
    "OutputFutureMemory",
    "OutputFutureMemoryView",
    "OutputMemory",
    "OutputMemoryView",
    "PopefPaths",
    "RecoveryAction",
    "RequestState",
    "RequestTracepoint",
    "TensorMemory",
    "application_runtime_error",
    "recoverable_runtime_error",
    "unknown_runtime_error",
]

recoverable_runtime_error.recoveryAction = lambda self: self._recovery_action
recoverable_runtime_error.recoveryAction.__doc__ = "The RecoveryAction that heals the device."

# Where users find them: what tracebacks and repr say.
for _name in __all__:
    globals()[_name].__module__ = __name__
del _name
