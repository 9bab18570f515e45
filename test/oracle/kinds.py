"""Every kind of column that the engine can hold, as pyarrow has it, with values that are drawn."""
import pyarrow as pa
from lance import blob_array, blob_field

from compare import PER_SECOND, PLAIN, array, drawn


class BFloat16(pa.ExtensionType):
    """pylance's own can't be imported without pandas."""

    def __init__(self):
        super().__init__(pa.binary(2), "lance.bfloat16")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        return cls()


ITEM = pa.struct([("a", pa.int32()), ("b", pa.string())])
DEEP = pa.struct([("a", pa.struct([("b", pa.struct([("c", pa.int64())]))]))])
TYPES = {
    **{str(kind): kind for kind in PLAIN if not pa.types.is_dictionary(kind)},
    **{str(kind): kind for kind in [pa.decimal256(50, 5), pa.binary_view(), pa.string_view(), pa.map_(pa.string(), pa.int32())]},
    "dictionary of string": pa.dictionary(pa.int8(), pa.string()),
    "dictionary of large_string": pa.dictionary(pa.int32(), pa.large_string()),
    "dictionary of int64": pa.dictionary(pa.uint16(), pa.int64()),
    "list of int32": pa.list_(pa.int32()),
    "large_list of string": pa.large_list(pa.string()),
    "list of lists": pa.list_(pa.list_(pa.string())),
    "list of structs": pa.list_(ITEM),
    "fixed_size_list of int32": pa.list_(pa.int32(), 2),
    "fixed_size_list of structs": pa.list_(ITEM, 2),
    "struct": ITEM,
    "structs in structs": DEEP,
    **{f"vector of {kind}": pa.list_(kind, 3) for kind in (pa.float16(), pa.float32(), pa.float64(), pa.uint8(), pa.int8())},
    "multi-vector": pa.list_(pa.list_(pa.float32(), 2)),
    "bfloat16": BFloat16(),
    "vector of bfloat16": pa.list_(BFloat16(), 2),
    "json": pa.json_(),
    "uuid": pa.uuid(),
}
KINDS = {
    **{name: pa.field("c", kind) for name, kind in TYPES.items()},
    "blob": pa.field("c", pa.large_binary(), metadata={"lance-encoding:blob": "true"}),
    "blob v2": blob_field("c"),
    "image URI": pa.field("c", pa.string(), metadata={"ARROW:extension:name": "lance.arrow.image_uri"}),
}
JSON = ["{}", "[1,2.5,null]", '{"a":{"b":"\\ufeff"}}', '"text"', "null"]
CAST = {pa.binary_view(): pa.binary(), pa.string_view(): pa.string(), pa.decimal256(50, 5): pa.decimal128(38, 5)}


def within_calendar(value, kind):
    """As a year that the engine can write as text."""
    per_day = 1 if pa.types.is_date32(kind) else 86_400 * PER_SECOND["ms" if pa.types.is_date64(kind) else kind.unit]
    return value if value is None else value % (90_000_000 * per_day)


def values(chance, kind, rows, nulls=True, structs=True, calendar=False):
    """Drawn values of a type. `nulls`: at the top level; `structs`: whether structs may be null."""
    mask = pa.array([nulls and chance.random() < 0.2 for _ in range(rows)], pa.bool_())
    if pa.types.is_null(kind):
        return pa.nulls(rows)
    if isinstance(kind, pa.JsonType):
        return pa.ExtensionArray.from_storage(kind, pa.array([None if mask[at].as_py() else chance.choice(JSON) for at in range(rows)], pa.string()))
    if isinstance(kind, pa.BaseExtensionType) and kind.extension_name == "lance.blob.v2":
        return blob_array([None if mask[at].as_py() else chance.randbytes(chance.choice([1, 5, 3_000])) for at in range(rows)])
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, values(chance, kind.storage_type, rows, nulls))
    if pa.types.is_struct(kind):
        children = [values(chance, field.type, rows, field.nullable, structs) for field in kind]
        fields = [field.with_type(child.type) for field, child in zip(kind, children)]
        return pa.StructArray.from_arrays(children, fields=fields, mask=mask if structs else None)
    if pa.types.is_fixed_size_list(kind) and not nulls or not structs and pa.types.is_nested(kind) and not pa.types.is_map(kind):
        return lists(chance, kind, rows, mask, structs)
    if pa.types.is_fixed_size_list(kind) and isinstance(kind.value_type, pa.BaseExtensionType):
        return lists(chance, kind, rows, mask, structs)
    if pa.types.is_map(kind):
        return pa.array([None if mask[at].as_py() else [("a", 1), ("\ufeff", None)][: chance.randint(0, 2)] for at in range(rows)], kind)
    if kind in CAST:
        return values(chance, CAST[kind], rows, nulls).cast(kind)
    made = []
    while len(made) < rows:
        value = drawn(chance, kind)
        if calendar and (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
            value = within_calendar(value, kind)
        if nulls or value is not None:
            made.append(value)
    return array(made, kind)


def lists(chance, kind, rows, mask, structs):
    """Format 2.0 has no null structs, so items are drawn on their own."""
    sizes = [kind.list_size if pa.types.is_fixed_size_list(kind) else chance.randint(0, 3) for _ in range(rows)]
    items = values(chance, kind.value_type, sum(sizes), not isinstance(kind.value_type, pa.BaseExtensionType), structs)
    if pa.types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(items, type=kind, mask=mask)
    ends = [sum(sizes[:at]) for at in range(rows + 1)]
    of, offsets = (pa.LargeListArray, pa.int64()) if pa.types.is_large_list(kind) else (pa.ListArray, pa.int32())
    return of.from_arrays(pa.array(ends, offsets), items, type=kind, mask=mask)
