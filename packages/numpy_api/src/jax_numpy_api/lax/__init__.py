"""The public namespace `jax.lax`: primitive operations on arrays, each with all of its rules.

Names are fetched from their module when first asked for, so that importing jax stays fast. To add a name, add it to the
line of its module. A module may be called like one of its functions (`lax.reduce` is the function, `from
jax_numpy_api.lax.reduce import ...` finds the module): the namespace keeps the function.

The table below says in which module each name is. Modules without public names: ``nary`` (how elementwise primitives are declared),
``positions`` (along axes: their dtype), ``scalar_programs`` (functions of reductions and scatters), ``cuts`` (complex functions beside their branch cuts),
``interleave`` and ``recurrence`` (steps of scans and of derivatives of running products), ``series`` (of special functions),
``elementary_cpu`` (elementary functions as vector code), ``nan_cpu``, ``window_cpu``, ``conv_cpu``, ``dot_cpu``, ``quotient_cpu``
(forms of operations that XLA's CPU compiler does better), ``conv_split`` (forms that its partitioner does right).
"""
from typing import TYPE_CHECKING

from jax_core.representation.dtypes import dtype as dtype

from .._lazy import keep_functions as _keep_functions, names_of as _names_of

if TYPE_CHECKING:  # the functions that win over the modules of their names, see `keep_functions`
    from .names import *

_NAMES = {
    "arithmetic": """
        RoundingMethod add add_p addition_chain cbrt cbrt_p ceil ceil_p div div_p floor floor_p integer_pow integer_pow_p max
        max_p min min_p mul mul_p mulhi mulhi_p neg neg_p nextafter nextafter_p one_minus_square one_minus_square_p polynomial
        polynomial_p reciprocal rem rem_p round round_p rsqrt rsqrt_p sqrt sqrt_p square square_p sub sub_p""",
    "power": "pow pow_p",
    "bits": """
        and_p bitwise_and bitwise_not bitwise_or bitwise_xor clz clz_p not_p or_p population_count population_count_p shift_left
        shift_left_p shift_right_arithmetic shift_right_arithmetic_p shift_right_logical shift_right_logical_p xor_p""",
    "compare": "eq eq_p eq_to_p ge ge_p gt gt_p is_finite is_finite_p le le_p le_to_p lt lt_p lt_to_p ne ne_p",
    "complex": "abs abs_p complex complex_p conj conj_p imag imag_p real real_p sign sign_p",
    "convert": """
        bitcast_convert_type bitcast_convert_type_p convert_element_type convert_element_type_p copy copy_p optimization_barrier
        optimization_barrier_p stop_gradient stop_gradient_p""",
    "create": "broadcasted_iota empty empty_p full full_like iota iota_p shape_as_value zeros_like_array",
    "accuracy": "AccuracyMode Tolerance",
    "composite": """
        after_all after_all_p composite composite_p create_token create_token_p dce_sink dce_sink_p stage stage_p""",
    "generator": "RandomAlgorithm rng_bit_generator rng_bit_generator_p rng_uniform rng_uniform_p",
    "placement": "sharding_constraint_p with_sharding_constraint",
    "reduce": """
        argmax argmax_p argmin argmin_p reduce reduce_and reduce_and_p reduce_max reduce_max_p reduce_min reduce_min_p reduce_or
        reduce_or_p reduce_p reduce_precision reduce_precision_p reduce_prod reduce_prod_p reduce_sum reduce_sum_p reduce_xor
        reduce_xor_p""",
    "select": "clamp clamp_p select select_n select_n_p",
    "shape": """
        broadcast broadcast_in_dim broadcast_in_dim_p broadcast_like broadcast_shapes broadcast_to_rank collapse concatenate
        concatenate_p expand_dims reshape reshape_p rev rev_p split split_p squeeze squeeze_p stack stack_p tile
        tile_p transpose transpose_p unstack unstack_p""",
    "pad": "pad pad_p",
    "special": """
        bessel_i0e bessel_i0e_p bessel_i1e bessel_i1e_p digamma digamma_p erf erf_inv erf_inv_p erf_p erfc erfc_p lgamma
        lgamma_p polygamma polygamma_p zeta zeta_p""",
    "incomplete": """
        betainc igamma igamma_grad_a igamma_grad_a_p igamma_p igammac igammac_p random_gamma_grad random_gamma_grad_p
        regularized_incomplete_beta_p""",
    "transcendental": """
        acos acos_p acosh acosh_p asin asin_p asinh asinh_p atan atan2 atan2_p atan_p atanh atanh_p cos cos_p cosh cosh_p exp
        exp2 exp2_p exp_p expm1 expm1_p log log1p log1p_p log2 log2_p log_p logistic logistic_p sin sin_p sinh sinh_p tan tan_p
        tanh tanh_p""",
    "dot": """
        DotAlgorithm DotAlgorithmPreset DotDimensionNumbers Precision PrecisionLike batch_matmul dot dot_general
        dot_general_p""",
    "grouped_dot": "RaggedDotDimensionNumbers ragged_dot ragged_dot_general scaled_dot",
    "conv": """
        ConvDimensionNumbers ConvGeneralDilatedDimensionNumbers conv conv_dimension_numbers conv_general_dilated
        conv_general_dilated_local conv_general_dilated_p conv_general_dilated_patches conv_general_permutations
        conv_general_shape_tuple conv_shape_tuple conv_transpose conv_transpose_shape_tuple conv_with_general_padding
        padtype_to_pads""",
    "slicing": """
        dynamic_index_in_dim dynamic_slice dynamic_slice_in_dim dynamic_slice_p dynamic_update_index_in_dim
        dynamic_update_slice dynamic_update_slice_in_dim dynamic_update_slice_p index_in_dim slice slice_in_dim slice_p""",
    "gather": "GatherDimensionNumbers GatherScatterMode gather gather_p index_take",
    "scatter": """
        ScatterDimensionNumbers scatter scatter_add scatter_add_p scatter_apply scatter_max scatter_max_p scatter_min
        scatter_min_p scatter_mul scatter_mul_p scatter_p scatter_sub scatter_sub_p""",
    "sort": "approx_max_k approx_min_k approx_top_k_p sort sort_key_val sort_p top_k top_k_p",
    "cumulative": """
        cumlogsumexp cumlogsumexp_p cummax cummax_p cummin cummin_p cumprod cumprod_p cumsum cumsum_p""",
    "window": """
        reduce_window reduce_window_max_p reduce_window_min_p reduce_window_p reduce_window_shape_tuple reduce_window_sum_p
        select_and_gather_add_p select_and_scatter_add_p select_and_scatter_p""",
    "fft": "FftType fft fft_p",
    "control_flow.associative_scan": "associative_scan",
    "control_flow.cond": "cond cond_p platform_dependent switch",
    "control_flow.map": "map",
    "control_flow.scan": "scan scan_p",
    "control_flow.solves": "custom_linear_solve custom_root linear_solve_p",
    "control_flow.while_loop": "fori_loop while_loop while_p",
    "parallel": "axis_index axis_index_p axis_size pcast pmax pmax_p pmean pmin pmin_p psum psum_p pvary",
    "exchange": """
        all_gather all_gather_p all_to_all all_to_all_p pbroadcast ppermute ppermute_p precv psend pshuffle psum_scatter
        psum_scatter_start pswapaxes reduce_scatter_p""",
    "ragged": "ragged_all_to_all ragged_all_to_all_p",
}
__getattr__, __dir__, __all__ = _names_of(__name__, _NAMES, ["linalg"], public="jax.lax")
__all__.append("dtype")
_keep_functions(__name__, _NAMES)
