"""ModelRunner and what its constructor takes."""

import os

import popef
from model_runtime import _model_runtime
from model_runtime.arguments import Arguments
from model_runtime.views import InputMemoryView, OutputMemory, OutputMemoryView, TensorMemory


class PopefPaths(list):
    """Paths of the files that make up one model. One path alone will do."""

    def __init__(self, paths):
        one = isinstance(paths, (str, bytes, os.PathLike))
        super().__init__(os.fsdecode(path) for path in ([paths] if one else paths))

    def __repr__(self):
        return f"PopefPaths({super().__repr__()})"


class ModelRunnerConfig(_model_runtime.ModelRunnerConfig):
    """Configuration of a ModelRunner; docs/runtime.md explains the fields.

    Durations (timeout_ns, batch_size_timeout_ns, data_parallel_timeout_ns) are datetime.timedelta;
    they may be set to an int of nanoseconds too. frozen_inputs, an InputMemoryView or dict, is added
    to every request; flush_by_name is a pair of them, inputs and outputs. Arrays are kept alive.
    replica_id_to_device is a dict from replica ids to Device.
    """

    __slots__ = ("_frozen_inputs", "_flush_by_name", "_replica_id_to_device")

    def __init__(self):
        super().__init__()
        self._frozen_inputs = InputMemoryView()
        self._flush_by_name = (InputMemoryView(), OutputMemoryView())
        self._replica_id_to_device = {}

    @property
    def frozen_inputs(self):
        return self._frozen_inputs

    @frozen_inputs.setter
    def frozen_inputs(self, tensors):
        self._frozen_inputs = InputMemoryView(tensors)

    @property
    def flush_by_name(self):
        return self._flush_by_name

    @flush_by_name.setter
    def flush_by_name(self, tensors):
        inputs, outputs = tensors
        self._flush_by_name = (InputMemoryView(inputs), OutputMemoryView(outputs))

    @property
    def replica_id_to_device(self):
        return self._replica_id_to_device

    @replica_id_to_device.setter
    def replica_id_to_device(self, devices):
        self._replica_id_to_device = dict(devices)

    def __repr__(self):
        fields = [name for cls in (_model_runtime.ModelRunnerConfig, ModelRunnerConfig)
                  for name, field in vars(cls).items() if isinstance(field, property)]
        values = ",\n  ".join(f"{name}={getattr(self, name)!r}" for name in fields)
        return f"ModelRunnerConfig(\n  {values})"


class OutputFutureMemory:
    """The results of a queued request, by name. future[name] waits for them."""

    def __init__(self, future, given):
        self._future, self._given = future, given

    def wait(self):
        """Returns when the request is done; raises what went wrong."""
        self._future.wait()

    def ready(self):
        """Whether wait() returns at once."""
        return self._future.ready()

    def __getitem__(self, name):
        return TensorMemory.of(self._future.output(name), self._given)

    def __contains__(self, name):
        return name in self.keys()

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self.keys())

    def keys(self):
        return self._future.names()

    def values(self):
        return [self[name] for name in self]

    def items(self):
        return [(name, self[name]) for name in self]

    def __repr__(self):
        state = "ready" if self.ready() else "pending"
        return f"<model_runtime.OutputFutureMemory of {', '.join(self)}: {state}>"


def _model(popef_model):
    if isinstance(popef_model, popef.Model):
        return popef_model
    if isinstance(popef_model, (str, bytes, os.PathLike, list, tuple)):
        return _model_runtime.read_model(PopefPaths(popef_model))
    raise TypeError(f"the model is {type(popef_model).__name__}, allowed is PopefPaths, "
                    "popef.Model or the path of a container")


class ModelRunner:
    """Loads a model on devices of its own and runs requests.

    A request gives InputMemoryViews and OutputMemoryViews, or plain dicts, of arrays by the names of
    tensors. Arrays are used where they lie: they must be C-contiguous and of the model's element
    type, and have the size of its tensor, or of N batches of it. Nobody may change them until the
    request is done; until then they are kept alive. A request for a fused model gives the tensors of
    one graph; `index` may be given, as an array or an int, or left out.

    May be used from several threads. The interpreter lock is released while a model is loaded and
    while requests run. Errors are RuntimeError (Error and what derives from it, popef.Error: the
    request, the container or the device), TypeError and ValueError (an array).
    """

    def __init__(self, model, config=None):
        """model: PopefPaths, popef.Model or a path. config: ModelRunnerConfig, or None."""
        config = ModelRunnerConfig() if config is None else config
        if not isinstance(config, ModelRunnerConfig):
            raise TypeError(f"config is {type(config).__name__}, allowed is ModelRunnerConfig")
        model = _model(model)
        arguments = Arguments(model)
        self._runner = _model_runtime.Runner(
            model, config, config.frozen_inputs, config.flush_by_name, config.replica_id_to_device,
            arguments.input_types(), arguments.output_types(), arguments)

    def execute(self, inputs, outputs=None, replica_id=0):
        """Runs a request.

        Without outputs, returns new memory for all of them: an OutputMemory for an InputMemoryView,
        a dict of arrays for a dict. Otherwise fills the arrays of outputs; returns None for an
        OutputMemoryView and a dict of the results for a dict. The result of an output with an open
        axis is a view of the array's first elements.
        """
        if outputs is not None:
            results = self._runner.execute_into(inputs, outputs, replica_id)
            return None if isinstance(outputs, OutputMemoryView) else results
        results = self._runner.execute(inputs, replica_id)
        if not isinstance(inputs, InputMemoryView):
            return results
        return OutputMemory((name, TensorMemory.of(array)) for name, array in results.items())

    def executeAsync(self, inputs, outputs=None, replica_id=0):
        """Queues a request and returns its future, OutputFutureMemory. Later changes of the dicts
        do not matter to it."""
        if outputs is None:
            return OutputFutureMemory(self._runner.execute_async(inputs, replica_id), False)
        future = self._runner.execute_async_into(inputs, outputs, replica_id)
        return OutputFutureMemory(future, True)

    def getExecuteInputs(self):
        """DataDesc of every input that requests give, for one batch."""
        return self._runner.execute_inputs()

    def getExecuteOutputs(self):
        """DataDesc of every output of a request, for one batch."""
        return self._runner.execute_outputs()

    def getModelInputs(self):
        """All inputs of the model: also the frozen ones and weights."""
        return self._runner.model_inputs()

    def getModelOutputs(self):
        """All outputs of the model."""
        return self._runner.model_outputs()

    def requestTracepoints(self):
        """The last requests, oldest first: RequestTracepoint. None unless the configuration has
        flush_on_waiting_outputs."""
        return self._runner.tracepoints()

    def __repr__(self):
        tensors = [("input", desc) for desc in self.getExecuteInputs()]
        tensors += [("output", desc) for desc in self.getExecuteOutputs()]
        described = ", ".join(f"{kind} {desc.name} {desc.numpy_data_type()}{desc.shape}"
                              for kind, desc in tensors)
        return f"<model_runtime.ModelRunner: {described}>"
