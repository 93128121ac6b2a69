"""Pytrees: laws over random trees, and each function's own facts."""

import collections
import copy
import dataclasses
import functools
import pickle

import pytest
from hypothesis import given, strategies as st

from jax_core.public import tree_util
from jax_core.representation import tree, tree_nodes

Pair = collections.namedtuple("Pair", "first second")


@tree_nodes.register_pytree_node_class
class Box:
    """A container with a label."""

    def __init__(self, *children, label="plain"):
        self.children, self.label = children, label

    def tree_flatten(self):
        return self.children, self.label

    @classmethod
    def tree_unflatten(cls, label, children):
        return cls(*children, label=label)

    def __eq__(self, other):
        return type(other) is Box and (self.children, self.label) == (other.children, other.label)


@tree_nodes.register_pytree_with_keys_class
class Named:
    """A container whose children have keys of their own."""

    def __init__(self, w, b):
        self.w, self.b = w, b

    def tree_flatten_with_keys(self):
        return ((tree.GetAttrKey("w"), self.w), (tree.GetAttrKey("b"), self.b)), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)

    def __eq__(self, other):
        return type(other) is Named and (self.w, self.b) == (other.w, other.b)


@tree_nodes.register_dataclass
@dataclasses.dataclass
class Point:
    x: object
    y: object
    unit: str = tree_nodes.static(default="m")


def _containers(children):
    keys = st.sampled_from("abcd")
    return st.one_of(
        st.lists(children, max_size=3), st.lists(children, max_size=3).map(tuple),
        st.dictionaries(keys, children, max_size=3), st.builds(Pair, children, children),
        st.dictionaries(keys, children, max_size=3).map(collections.OrderedDict),
        st.dictionaries(keys, children, max_size=3).map(lambda d: collections.defaultdict(int, d)),
        st.lists(children, max_size=3).map(lambda c: Box(*c)), st.builds(Named, children, children),
        st.builds(Point, children, children), st.just(None))


TREES = st.recursive(st.integers(), _containers, max_leaves=12)


def _grow(draw, t):
    """`t` with some leaves replaced by trees."""
    return tree.map(lambda leaf: draw(TREES) if draw(st.booleans()) else leaf, t)


# --- laws ----------------------------------------------------------------------------------
@given(TREES)
def test_unflatten_undoes_flatten(t):
    leaves, treedef = tree.flatten(t)
    assert tree.unflatten(treedef, leaves) == t
    assert tree.structure(t) == treedef and tree.leaves(t) == leaves and treedef.num_leaves == len(leaves)


@given(TREES)
def test_map_of_the_identity_is_the_identity(t):
    assert tree.map(lambda x: x, t) == t


@given(TREES)
def test_map_composes(t):
    assert tree.map(lambda x: 2 * (x + 1), t) == tree.map(lambda x: 2 * x, tree.map(lambda x: x + 1, t))


@given(TREES)
def test_map_of_two_trees_pairs_leaves(t):
    assert tree.map(lambda x, y: x - y, t, t) == tree.map(lambda x: 0, t)


@given(TREES)
def test_a_path_leads_to_its_leaf(t):
    def follow(node, key):
        if isinstance(key, tree.SequenceKey):
            return node[key.idx]
        if isinstance(key, tree.DictKey):
            return node[key.key]
        if isinstance(key, tree.GetAttrKey):
            return getattr(node, key.name)
        return node.children[key.key]
    for path, leaf in tree.leaves_with_path(t):
        assert functools.reduce(follow, path, t) == leaf
    assert [leaf for _, leaf in tree.leaves_with_path(t)] == tree.leaves(t)


@given(TREES)
def test_map_with_path_gives_each_path_once(t):
    paths = tree.leaves(tree.map_with_path(lambda path, leaf: tree_util.keystr(path), t))
    assert len(set(paths)) == len(paths) == len(tree.leaves(t))


@given(TREES, TREES)
def test_transposing_twice_gives_the_tree(outer, inner):
    outer_def, inner_def = tree.structure(outer), tree.structure(inner)
    whole = tree.map(lambda x: tree.map(lambda y: (x, y), inner), outer)
    whole = tree.map(str, whole, is_leaf=lambda x: type(x) is tuple and len(x) == 2 and type(x[0]) is int)
    if tree.structure(whole) != outer_def.compose(inner_def) or not outer_def.num_leaves or not inner_def.num_leaves:
        return
    turned = tree.transpose(outer_def, inner_def, whole)
    assert tree.structure(turned) == inner_def.compose(outer_def)
    assert tree.transpose(inner_def, outer_def, turned) == whole


@given(st.data())
def test_a_prefix_is_broadcast_to_every_leaf_below(data):
    prefix = data.draw(TREES)
    full = _grow(data.draw, prefix)
    found = tree.broadcast(prefix, full)
    assert tree.structure(found) == tree.structure(full)
    want = []
    tree.map(lambda leaf, subtree: want.extend([leaf] * len(tree.leaves(subtree))), prefix, full)
    assert tree.leaves(found) == tree.broadcast_prefix(prefix, full) == want


@given(TREES, TREES)
def test_mismatches_are_found_exactly_where_there_is_one(a, b):
    """The explanation in Python agrees with the decision in C++."""
    try:
        tree.structure(a).flatten_up_to(b)
        matches = True
    except (ValueError, TypeError):
        matches = False
    assert matches == (not list(tree.prefix_mismatches(a, b, "a", "b")))


@given(TREES, TREES)
def test_structure_differences_are_empty_for_equal_structures_only(a, b):
    """The list of paths, too, which also lead to places where the trees differ."""
    errors = list(tree.equality_errors(a, b))
    assert (tree.structure(a) == tree.structure(b)) == (not tree.structure_differences(a, b)) == (not errors)
    for path, *_ in errors:
        one, two = a, b
        for key in path:
            one, two = (dict(tree_util.flatten_one_level_with_keys(t)[0])[key] for t in (one, two))
        assert tree.structure(one) != tree.structure(two)


@given(TREES)
def test_a_leaf_predicate_stops_the_descent(t):
    lists = tree.leaves(t, is_leaf=lambda x: isinstance(x, list))
    assert sum(len(tree.leaves(x)) for x in lists) == len(tree.leaves(t))


@pytest.mark.parametrize("function", [tree.flatten, tree.leaves, tree.structure, tree.flatten_with_path, tree.leaves_with_path, tree.all,
                                      lambda t: tree.map(lambda x: x, t), lambda t: tree.map_with_path(lambda path, x: x, t), lambda t: tree.reduce(max, t),
                                      lambda t: tree.reduce_associative(max, t)])
def test_a_tree_that_holds_itself(function):
    endless: list = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        function(endless)


@given(TREES)
def test_structures_survive_pickling_and_copying(t):
    treedef = tree.structure(t)
    assert copy.deepcopy(treedef) == treedef == pickle.loads(pickle.dumps(treedef))


@given(st.lists(st.text(max_size=2), min_size=1))
def test_balanced_reduction_keeps_the_order(words):
    assert tree.reduce_associative(str.__add__, words) == "".join(words) == tree.reduce(str.__add__, words)


# --- single facts ----------------------------------------------------------------------------
def test_structures_print_as_the_reference_prints_them():
    t = (1, {"b": 2, "a": [3, None]}, Pair(4, 5), collections.OrderedDict(z=1, y=2), collections.defaultdict(int, k=1))
    assert str(tree.structure(t)) == (
        "PyTreeDef((*, {'a': [*, None], 'b': *}, CustomNode(namedtuple[Pair], [*, *]),"
        " CustomNode(OrderedDict[('z', 'y')], [*, *]), CustomNode(defaultdict[(<class 'int'>, ('k',))], [*])))")
    assert str(tree.structure(Point(1, 2))) == "PyTreeDef(CustomNode(Point[('m',)], [*, *]))"


def test_keystr():
    (path, _), = tree.leaves_with_path({"w": [Named(None, 1)]})
    assert tree_util.keystr(path) == "['w'][0].b"
    assert tree_util.keystr(path, simple=True, separator="/") == "w/0/b"
    assert tree_util.keystr(()) == ""
    (path, _), = tree.leaves_with_path(Box(1))
    assert tree_util.keystr(path) == "[<flat index 0>]"


def test_none_is_a_container_without_leaves():
    assert tree.leaves((None, 1)) == [1]
    assert tree.map(lambda x: x + 1, (None, 1)) == (None, 2)
    assert tree.leaves((None, 1), is_leaf=lambda x: x is None) == [None, 1]


def test_leaf_predicates_may_take_the_path():
    found = tree.leaves_with_path({"a": [1], "b": [2]}, is_leaf=lambda path, x: path == (tree.DictKey("b"),),
                                  is_leaf_takes_path=True)
    assert [leaf for _, leaf in found] == [1, [2]]


@pytest.mark.parametrize("a, b, reason", [
    ((1, 2), (1,), "tree is a tuple of length 2, but rest[0] is a tuple of length 1."),
    ((1, 2), [1, 2], "tree is a tuple of length 2, but rest[0] is a list of length 2."),
    ({"a": 1, "b": 2}, {"a": 1}, "tree has ['b'], which rest[0] lacks."),
    ({"a": 1}, {"a": 1, "b": 2}, "tree lacks ['b'] of rest[0]."),
    ({"a": (1, (2, 3))}, {"a": (1, 2)}, "tree['a'][1] is a tuple of length 2, but rest[0]['a'][1] is a leaf: int."),
    ((1, None), (1, 2), "tree[1] is None, but rest[0][1] is a leaf: int."),
    (Box(1), Box(1, label="new"), "tree and rest[0] are both a Box, but their metadata differ: 'plain' and 'new'."),
])
def test_map_says_where_trees_differ(a, b, reason):
    with pytest.raises(ValueError) as error:
        tree.map(lambda x, y: x, a, b)
    assert str(error.value) == f"tree_map: the trees do not match.\n{reason}"


def test_errors_of_the_mapped_function_pass_through():
    def fail(x, y):
        raise ValueError("mine")
    with pytest.raises(ValueError) as error:
        tree.map(fail, (1, 2), (1, 2))
    assert str(error.value) == "mine"


def test_broadcast_says_where_the_prefix_ends():
    with pytest.raises(ValueError) as error:
        tree.broadcast((1, {"a": (1, 2)}), (1, {"a": (1, 2, 3)}))
    assert str(error.value) == (
        "prefix_tree is not a tree prefix of full_tree.\n"
        "prefix_tree[1]['a'] is a tuple of length 2, but full_tree[1]['a'] is a tuple of length 3.")


def test_flatten_axes():
    treedef = tree.structure(((1, {"w": 2, "b": 3}), None))
    assert tree.flatten_axes("vmap in_axes", treedef, 0) == [0, 0, 0]
    assert tree.flatten_axes("vmap in_axes", treedef, None) == [None, None, None]
    assert tree.flatten_axes("vmap in_axes", treedef, ((0, {"w": 1, "b": None}), 0)) == [0, None, 1]
    assert tree.flatten_axes("vmap in_axes", treedef, ((0, None), None)) == [0, None, None]
    with pytest.raises(ValueError) as error:
        tree.flatten_axes("vmap in_axes", treedef, (0, 1, 2))
    assert "vmap in_axes is a tuple of length 3, but the values is a tuple of length 2." in str(error.value)


def test_transpose_without_an_inner_structure_takes_the_first():
    rows = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    assert tree.transpose(tree.structure([0, 0]), None, rows) == {"a": [1, 3], "b": [2, 4]}


def test_transpose_refuses_another_structure():
    for inner in (None, tree.structure(0)):
        with pytest.raises(ValueError, match="has no leaves"):
            tree.tree_transpose(tree.structure(()), inner, ())
    with pytest.raises(TypeError, match=r"^tree_transpose: the tree has structure\n  PyTreeDef\(\[\*, \*\]\)"):
        tree.transpose(tree.structure([0, 0]), tree.structure((0, 0)), [1, 2])


def test_reduce():
    assert tree.reduce(lambda a, b: a + b, {"a": 1, "b": (2, None)}, 10) == 13
    assert tree.reduce(lambda a, b: a, [], initializer=None) is None
    with pytest.raises(TypeError, match="^tree_reduce: the tree has no leaves"):
        tree.reduce(lambda a, b: a, [])
    with pytest.raises(TypeError, match="^tree_reduce_associative: the tree has no leaves"):
        tree.reduce_associative(lambda a, b: a, [])
    assert tree.reduce_associative(lambda a, b: a, [], identity=3) == 3
    assert tree.reduce_associative(lambda a, b: (a, b), [1, 2, 3, 4, 5]) == ((1, 2), (3, (4, 5)))


def test_all():
    assert tree.all([]) and tree.all({"a": 1, "b": (True,)}) and not tree.all((1, 0))


def test_one_level():
    assert tree_util.flatten_one_level({"b": 1, "a": (2,)}) == (((2,), 1), ("a", "b"))
    assert tree_util.flatten_one_level_with_keys(Named(1, 2)) == (
        [(tree.GetAttrKey("w"), 1), (tree.GetAttrKey("b"), 2)], None)
    with pytest.raises(ValueError, match="a value of type <class 'int'> is a leaf"):
        tree_util.flatten_one_level(1)


def test_keys_of_one_level_are_those_of_paths():
    for t in (Pair(1, 2), {"a": 1, "b": 2}, [1, 2], Pair(3, Pair(4, 5)).second):
        assert [(key,) for key, _ in tree_util.flatten_one_level_with_keys(t)[0]] == [path for path, _ in tree_util.tree_leaves_with_path(t)]


def test_what_is_a_node():
    nodes = (tuple, list, dict, type(None), Pair, Box, collections.OrderedDict, tree_nodes.Partial)
    assert all(tree_util.is_tree_node(t) for t in nodes)
    assert not tree_util.is_tree_node(int) and not tree_util.is_tree_node(functools.partial)
    assert tree_util.all_leaves([1, "a"]) and not tree_util.all_leaves([1, (2,)]) and not tree_util.all_leaves([None])
    assert tree_util.all_leaves([1, (2,)], is_leaf=lambda x: isinstance(x, tuple))


def test_structures_of_structures():
    treedef = tree_util.treedef_tuple([tree.structure(1), tree.structure([1, 2])])
    assert treedef == tree.structure((1, [1, 2]))
    assert tree_util.treedef_children(treedef) == [tree.structure(1), tree.structure([1, 2])]
    assert tree_util.treedef_is_leaf(tree.structure(1)) and not tree_util.treedef_is_leaf(treedef)


def test_static_classes_are_part_of_the_structure():
    @tree_util.register_static
    @dataclasses.dataclass(frozen=True)
    class Settings:
        size: int
    assert tree.leaves(Settings(1)) == []
    assert tree.structure(Settings(1)) == tree.structure(Settings(1)) != tree.structure(Settings(2))
    assert tree.map(lambda x: x, (Settings(3), 1)) == (Settings(3), 1)
    with pytest.raises(TypeError, match="^register_static: 3 is not a class"):
        tree_util.register_static(3)


def test_dataclasses_name_their_fields_once():
    @dataclasses.dataclass
    class Three:
        x: int
        y: int
        z: int = dataclasses.field(init=False, default=3)
    for data, meta, problem in (
            (["x"], [], "not named: y"), (["x"], ["y", "w"], "not fields of __init__: w"),
            (["x"], ["x"], "named twice: x; not named: y"), (["x"], ["y", "z"], "not fields of __init__: z")):
        with pytest.raises(ValueError, match=f"must name each field of its __init__ once \\({problem}\\)"):
            tree_util.register_dataclass(Three, data, meta)
    with pytest.raises(TypeError, match="give both data_fields and meta_fields or neither"):
        tree_util.register_dataclass(Three, ["x"])
    with pytest.raises(TypeError, match="is not a dataclass"):
        tree_util.register_dataclass(int)
    tree_util.register_dataclass(Three, ["x"], ["y"])
    assert tree.map(lambda x: x + 1, Three(1, 2)) == Three(2, 2)
    with pytest.raises(ValueError, match="Duplicate"):
        tree_util.register_dataclass(Three, ["x"], ["y"])


def test_the_registry_can_be_looked_at():
    children, aux = tree_nodes._registry[Point].to_iter(Point(1, 2, "km"))
    assert (children, aux) == ([1, 2], ("km",))
    assert tree_nodes._registry[Point].from_iter(aux, children) == Point(1, 2, "km")
    assert tree_nodes._registry[Box].from_iter("l", [1]) == Box(1, label="l")


def test_partial_is_a_container_of_its_arguments():
    p = tree_nodes.Partial(max, 1, key=2)
    leaves, treedef = tree.flatten(p)
    assert leaves == [1, 2] and treedef == tree.structure(tree_nodes.Partial(max, 3, key=4))
    assert treedef != tree.structure(tree_nodes.Partial(min, 1, key=2))
    assert tree.map(lambda x: x + 1, tree_nodes.Partial(max, 1))(0) == 2
    assert repr(p) == "Partial(<built-in function max>, 1, key=2)"
    assert pickle.loads(pickle.dumps(tree_nodes.Partial(max, 1)))(3) == 3


@pytest.mark.parametrize("partial", [tree_nodes.Partial, functools.partial])
def test_a_partial_function_inside_a_partial_is_kept_whole(partial):
    inner = partial(max, 1)
    p = tree_nodes.Partial(inner, 2)
    assert tree.leaves(p) == [2] and p() == 2
    assert tree.structure(p) == tree.structure(tree_nodes.Partial(inner, 5))


def test_the_short_and_long_names_are_the_same_functions():
    for name in ("flatten", "unflatten", "leaves", "structure", "map", "reduce", "all", "transpose", "broadcast",
                 "map_with_path", "flatten_with_path", "leaves_with_path", "reduce_associative"):
        assert getattr(tree, name) is getattr(tree_util, f"tree_{name}")
