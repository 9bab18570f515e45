"""Judges values with pyarrow, pylance and numpy: what a table or Arrow IPC data holds, against rows as migrations have them.

Reads tasks as lines of JSON and answers each with a line: the first difference, or null.
{"place": a table's folder, a stream or a file, "rows": [{column: value}]} compares; {"write": a path, "seed": number} writes drawn rows there.
"""
import decimal
import json
import random
import re
import sys

import numpy
import pyarrow as pa


def read(path):
    if path.endswith(".lance"):
        import lance

        return lance.dataset(path).to_table()
    with pa.memory_map(path) as source:
        try:
            return pa.ipc.open_file(source).read_all()
        except pa.ArrowInvalid:
            source.seek(0)
            return pa.ipc.open_stream(source).read_all()


def bits(value, kind):
    """Of a float. There is one NaN."""
    number = kind(value)
    return "NaN" if numpy.isnan(number) else number.tobytes().hex()


FLOATS = {pa.float16(): numpy.float16, pa.float32(): numpy.float32, pa.float64(): numpy.float64}
SPECIAL = {"NaN": numpy.nan, "Infinity": numpy.inf, "-Infinity": -numpy.inf}
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
TIME = re.compile(r"(.*)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:Z|([+-])(\d\d):(\d\d))")


def days(text):
    return int(numpy.datetime64(re.sub(r"^\+0*", "", text), "D").astype("int64"))


def ticks(text, unit):
    day, hour, minute, second, fraction, sign, hours, minutes = TIME.fullmatch(text).groups()
    offset = (int(hours or 0) * 60 + int(minutes or 0)) * (-1 if sign == "-" else 1)
    seconds = days(day) * 86_400 + int(hour) * 3_600 + (int(minute) - offset) * 60 + int(second or 0)
    exact = seconds * 10**9 + int((fraction or "").ljust(9, "0"))
    whole, rest = divmod(exact, 10**9 // PER_SECOND[unit])
    assert rest == 0, text
    return whole


def expected(value, kind):
    """What a value of a row means in a column of this type."""
    if value is None:
        return None
    if kind in FLOATS:
        return bits(SPECIAL.get(value, value), FLOATS[kind])
    if pa.types.is_boolean(kind):
        return value
    if pa.types.is_integer(kind) or pa.types.is_duration(kind) or pa.types.is_time(kind):
        return int(value)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return value.encode()
    if pa.types.is_date32(kind):
        return days(value)
    if pa.types.is_date64(kind):
        return ticks(value if "T" in value else value + "T00:00:00Z", "ms")
    if pa.types.is_timestamp(kind):
        return ticks(value, kind.unit)
    if pa.types.is_decimal(kind):
        return decimal.Decimal(value)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return bytes.fromhex(value["hex"])
    if kind == pa.json_():
        return json.loads(value)
    if pa.types.is_dictionary(kind):
        return expected(value, kind.value_type)
    if pa.types.is_struct(kind):
        return {field.name: expected(value.get(field.name), field.type) for field in kind}
    return [expected(item, kind.value_type) for item in value]


def found(scalar):
    """What a column holds, in the same form."""
    kind = scalar.type
    if not scalar.is_valid:
        return None
    if kind in FLOATS:
        return bits(scalar.as_py(), FLOATS[kind])
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return scalar.as_buffer().to_pybytes()
    if kind == pa.json_():
        return json.loads(scalar.as_py())
    if pa.types.is_temporal(kind):
        return scalar.value
    if pa.types.is_dictionary(kind):
        return found(scalar.value if hasattr(scalar, "value") else scalar.as_py())
    if isinstance(kind, pa.BaseExtensionType):
        return found(scalar.value)
    if pa.types.is_struct(kind):
        return {name: found(scalar[name]) for name in [field.name for field in kind]}
    if pa.types.is_nested(kind):
        return [found(item) for item in scalar.values]
    return scalar.as_py()


def difference(path, rows):
    table = read(path)
    if table.num_rows != len(rows):
        return f"{table.num_rows} rows instead of {len(rows)}"
    for name in table.schema.names:
        kind = table.schema.field(name).type
        for at, scalar in enumerate(table.column(name)):
            have, want = found(scalar), expected(rows[at].get(name), kind)
            if have != want:
                return f"row {at}, {name} ({kind}): {have!r} instead of {want!r}"
    return None


def drawn(chance, kind):
    """A value of a type, as Python has it."""
    if pa.types.is_null(kind) or chance.random() < 0.2:
        return None
    if kind in FLOATS:
        size = {pa.float16(): 15, pa.float32(): 127, pa.float64(): 1_000}[kind]
        number = FLOATS[kind](chance.choice([-1, 1]) * chance.random() * 2.0 ** chance.randint(-size, size))
        return chance.choice([number, number, FLOATS[kind](-0.0), FLOATS[kind](numpy.inf), FLOATS[kind](numpy.nan)])
    if pa.types.is_boolean(kind):
        return chance.random() < 0.5
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        signed = not str(kind).startswith("uint")
        least, most = (-(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1) if signed else (0, 2**kind.bit_width - 1)
        if pa.types.is_time(kind):
            least, most = 0, 86_400 * PER_SECOND[kind.unit] - 1
        return chance.choice([least, most, 0, 1, chance.randint(least, most), chance.randint(least, most) // 10**6])
    if pa.types.is_decimal(kind):
        most = 10**kind.precision - 1
        unscaled = chance.choice([0, 1, -1, most, -most, chance.randint(-most, most)])
        with decimal.localcontext(decimal.Context(prec=50)):
            return decimal.Decimal(unscaled).scaleb(-kind.scale)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "".join(chance.choice("\ufeffab\0é😀 \u2028") for _ in range(chance.randint(0, 5)))
    if pa.types.is_fixed_size_binary(kind):
        return chance.randbytes(kind.byte_width)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return chance.randbytes(chance.randint(0, 5))
    if pa.types.is_dictionary(kind):
        return chance.choice([*([1, 2] if pa.types.is_integer(kind.value_type) else ["\ufeffa", "a", "b"]), None])
    if pa.types.is_struct(kind):
        return {field.name: drawn(chance, field.type) for field in kind}
    if pa.types.is_fixed_size_list(kind):
        return [drawn(chance, kind.value_type) for _ in range(kind.list_size)]
    return [drawn(chance, kind.value_type) for _ in range(chance.randint(0, 4))]


def array(values, kind):
    if pa.types.is_null(kind):
        return pa.nulls(len(values))
    if pa.types.is_temporal(kind):
        plain = pa.int32() if kind.bit_width == 32 else pa.int64()
        return pa.array(values, plain).cast(kind)
    if pa.types.is_struct(kind):
        fields = [array([None if v is None else v[f.name] for v in values], f.type) for f in kind]
        return pa.StructArray.from_arrays(fields, fields=list(kind), mask=pa.array([v is None for v in values], pa.bool_()))
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).dictionary_encode().cast(kind)
    if pa.types.is_nested(kind):
        lists = [[] if v is None else v for v in values]
        if pa.types.is_fixed_size_list(kind):
            lists = [[None] * kind.list_size if v is None else v for v in values]
        items = array([item for one in lists for item in one], kind.value_type)
        mask = pa.array([v is None for v in values], pa.bool_())
        if pa.types.is_fixed_size_list(kind):
            return pa.FixedSizeListArray.from_arrays(items, type=kind, mask=mask)
        ends = numpy.cumsum([0] + [len(one) for one in lists])
        kinds = {True: (pa.LargeListArray, pa.int64()), False: (pa.ListArray, pa.int32())}
        of, offsets = kinds[pa.types.is_large_list(kind)]
        return of.from_arrays(pa.array(ends, offsets), items, type=kind, mask=mask)
    return pa.array(values, kind)


PLAIN = [
    pa.null(), pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(),
    pa.float16(), pa.float32(), pa.float64(), pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.binary(3),
    pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.decimal128(38, 10),
    pa.decimal128(5, 0), pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.large_string()),
    *[pa.duration(unit) for unit in PER_SECOND], *[pa.timestamp(unit) for unit in PER_SECOND], pa.timestamp("us", "Europe/Berlin"),
]


def drawn_type(chance, depth=2):
    shape = chance.choice(["plain", "plain", "list", "large", "fixed", "struct"]) if depth > 0 else "plain"
    if shape == "plain":
        return chance.choice([kind for kind in PLAIN if depth == 2 or not pa.types.is_dictionary(kind)])
    if shape == "struct":
        return pa.struct([(f"\ufeffs{at}", drawn_type(chance, depth - 1)) for at in range(chance.randint(1, 3))])
    of = {"list": pa.list_, "large": pa.large_list, "fixed": lambda item: pa.list_(item, chance.randint(1, 4))}[shape]
    return of(drawn_type(chance, depth - 1))


def write(path, seed):
    chance = random.Random(seed)
    rows = chance.randint(0, 20)
    kinds = [*PLAIN, *[drawn_type(chance) for _ in range(8)]]
    arrays = [array([drawn(chance, kind) for _ in range(rows)], kind) for kind in kinds]
    table = pa.table(arrays, names=[f"\ufeffc{at}" for at in range(len(kinds))])
    with pa.OSFile(path, "wb") as sink, (pa.ipc.new_file if seed % 2 else pa.ipc.new_stream)(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)


def answer(task):
    return write(task["write"], task["seed"]) if "write" in task else difference(task["place"], task["rows"])


def serve(answer):
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    serve(answer)
