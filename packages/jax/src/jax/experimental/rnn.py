"""jax.experimental.rnn: implemented in `jax_numpy_api.rnn`."""
from jax._gaps import missing as _missing
from jax._lazy import mirror as _mirror

_served, _names = _mirror(__name__, "jax_numpy_api.rnn", """
    PRNGKeyArray get_num_params_in_lstm init_lstm_weight lstm lstm_bwd lstm_fwd lstm_ref rnn_abstract_eval
    rnn_bwd_abstract_eval rnn_bwd_p rnn_fwd_p sigmoid swap_lstm_gates tanh unpack_lstm_weights""")
__getattr__, __dir__ = _missing(__name__, _served, _names)
