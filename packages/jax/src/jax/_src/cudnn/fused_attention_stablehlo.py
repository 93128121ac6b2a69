"""jax._src.cudnn.fused_attention_stablehlo: names by which libraries (axlearn, keras) ask for parts of attention by cuDNN.

The whole is `jax.nn.dot_product_attention` with ``implementation="cudnn"``; its parts differ here. Every name but the kinds of masks raises
when it is used, by which keras sees that it has to go another way.
"""
import enum as _enum

from jax._gaps import gap as _gap


class MaskType(_enum.Enum):
    """Which pairs of a query and a key count."""

    NO_MASK = 0
    PADDING = 1
    CAUSAL = 2
    PADDING_CAUSAL = 3
    ALIBI = 4


_dot_product_attention_fwd_p_wrapper, _normalize_layout, check_compute_capability, check_cudnn_version, check_is_flash_attention, check_layout, (
    dot_product_attention) = (_gap(__name__, _name) for _name in (
        "_dot_product_attention_fwd_p_wrapper", "_normalize_layout", "check_compute_capability", "check_cudnn_version", "check_is_flash_attention",
        "check_layout", "dot_product_attention"))
