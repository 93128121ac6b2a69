"""jax.example_libraries.stax: implemented in `jax_random.stax`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_random.stax", """
    AvgPool BatchNorm Conv Conv1DTranspose ConvTranspose Dense Dropout Elu Exp FanInConcat FanInSum FanOut Flatten
    Gelu GeneralConv GeneralConvTranspose Identity LeakyRelu LogSoftmax MaxPool Relu Selu Sigmoid Softmax Softplus
    SumPool Tanh elementwise glorot logsoftmax parallel randn serial shape_dependent""", **{
        name: f"jax.nn:{name}" for name in (
            "elu", "gelu", "leaky_relu", "log_softmax", "relu", "selu", "sigmoid", "softmax", "softplus", "standardize")}, **{
        name: f"jax.nn.initializers:{name}" for name in ("glorot_normal", "normal", "ones", "zeros")})
