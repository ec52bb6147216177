#!/usr/bin/env python3
"""Verifies an exported ledger of Warrant without Warrant.

    verify.py FOLDER [--against CHECKPOINT]... [--key NAME+HASH+KEY]

FOLDER comes from `warrant audit export --format folder`. A CHECKPOINT is one that was kept elsewhere: only such a one
shows that the end was cut off, or that all of the history was written anew. Needs Python 3.9 and `cryptography`.
Exits 0 where all of it holds, 4 where something does not, and says which record.
"""
import argparse
import base64
import hashlib
import json
import pathlib
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

wrong = []


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def canonical(value):  # RFC 8785, for values without floats
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def strict64(text):
    raw = base64.b64decode(text, validate=True)
    if base64.b64encode(raw).decode() != text:
        raise ValueError("base64 in another form")
    return raw


def parse_key(text):  # C2SP signed-note: NAME+ID+KEY
    name, ident, key = text.strip().split("+", 2)
    raw = strict64(key)
    if raw[0] != 1 or sha(name.encode(), b"\n", raw)[:4].hex() != ident:
        raise ValueError("no key: " + text)
    return name, bytes.fromhex(ident), Ed25519PublicKey.from_public_bytes(raw[1:])


def opened(note, keys):  # the text of a note that one of these keys signed
    text, _, signatures = note.rpartition("\n\n")
    if not signatures.endswith("\n"):
        raise ValueError("no signed note")
    for line in signatures[:-1].split("\n"):
        dash, name, signature = line.split(" ")
        raw = strict64(signature)
        for known, ident, key in map(parse_key, keys):
            if (dash, name, raw[:4]) == ("\u2014", known, ident):
                try:
                    key.verify(raw[4:], (text + "\n").encode())
                    return text + "\n"
                except InvalidSignature:
                    pass
    raise ValueError("not signed by the log's key")


def checkpoint(note, keys):
    origin, size, root = opened(note, keys).split("\n")[:3]
    return origin, int(size), strict64(root)


def tile(level, number, width):
    path = f"{number % 1000:03}"
    while number := number // 1000:
        path = f"x{number % 1000:03}/{path}"
    return f"tile/{level}/{path}" + (f".p/{width}" if width < 256 else "")


def tiles(hashes, level=0):  # every tile of the tree, by its path
    files, above = {}, []
    for number in range(0, len(hashes), 256):
        part = hashes[number : number + 256]
        files[tile(level, number // 256, len(part))] = b"".join(part)
        if len(part) == 256:
            while len(part) > 1:
                part = [sha(b"\1", part[i], part[i + 1]) for i in range(0, len(part), 2)]
            above.append(part[0])
    return {**files, **(tiles(above, level + 1) if above else {})}


def roots(leaves, sizes):  # the roots (RFC 6962) over the first leaves, for each of these sizes
    edge, found = [], {}
    for size, leaf in enumerate(leaves, 1):
        rest = size
        while rest % 2 == 0:
            leaf, rest = sha(b"\1", edge.pop(), leaf), rest // 2
        edge.append(leaf)
        if size in sizes:
            root = edge[-1]
            for left in reversed(edge[:-1]):
                root = sha(b"\1", left, root)
            found[size] = root
    return found


def entries(files):
    size = int(files["checkpoint"].split(b"\n")[1])
    for first in range(0, size, 256):
        width = min(256, size - first)
        data = files[tile("entries", first // 256, width)]
        for _ in range(width):
            end = 2 + int.from_bytes(data[:2], "big")
            yield data[2:end]
            data = data[end:]
        if data:
            raise ValueError("there is more in a tile of entries than its records")


def record(seq, prev, data, line):  # one record: form, chain, commitments
    says, beside = json.loads(data), json.loads(line)
    if canonical(says).encode() != data or set(says) != {"commitments", "kind", "prev", "schema", "seq", "time"}:
        raise ValueError("its bytes are not in the form of a record")
    if canonical(beside).encode() != line or set(beside) != {"openings", "seq"}:
        raise ValueError("its openings are in another form")
    if (says["seq"], beside["seq"], says["schema"]) != (seq, seq, 1) or says["prev"] != prev.hex():
        raise ValueError("it does not follow the record before it")
    for field, (salt, value) in beside["openings"].items():
        if says["commitments"].get(field) != sha(bytes.fromhex(salt), field.encode(), b"\0", value.encode()).hex():
            raise ValueError(f"its value of `{field}` is not the one that it commits to")
    values = {field: json.loads(value) for field, (_, value) in beside["openings"].items()}
    return says["kind"], values, [(seq, field) for field in says["commitments"] if field not in values]


def verify(files, kept, pinned):
    data, lines = list(entries(files)), files["openings.jsonl"].split(b"\n")
    if lines.pop() or len(lines) != len(data):
        raise ValueError("there is not one line of openings a record")
    origin = json.loads(json.loads(lines[0])["openings"]["origin"][1])
    prev = sha(b"warrant ledger\n", origin.encode(), b"\n")
    keys, notes, missing, sealed = [], [], [], set()
    leaves = [sha(b"\0", entry) for entry in data]
    for seq, (entry, line) in enumerate(zip(data, lines)):
        try:
            kind, values, gone = record(seq, prev, entry, line)
            missing += gone
            if kind == "log_opened" and seq == 0:
                keys.append(values["key"])
            elif kind == "key_rotated":
                if opened(values["note"], keys[-1:]) != f"warrant key rotation\n{origin}\n{values['key']}\n":
                    raise ValueError("the key before did not sign the next one")
                keys.append(values["key"])
            elif kind == "checkpoint":
                notes.append((f"record {seq}", values["note"]))
            elif kind == "sealed" and len({person["person"] for person in values["persons"]}) > 1:
                sealed |= {(values["about"], field) for field in values["fields"]}
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            wrong.append(f"record {seq}: {error}")
        prev = leaves[seq]
    wrong.extend(f"record {s}: its value of `{f}` is missing, and nobody sealed it" for s, f in missing if (s, f) not in sealed)
    if files["key"].decode() != keys[-1] + "\n" or (pinned and pinned not in keys):
        wrong.append("the key is not the one that the log goes on under")
    trusted = keys[keys.index(pinned) :] if pinned in keys else keys
    said = []
    for name, note in notes + [("checkpoint", files["checkpoint"].decode())] + kept:
        try:
            said.append((name, *checkpoint(note, keys if name.startswith("record") else trusted)))
        except ValueError as error:
            wrong.append(f"{name}: {error}")
    found, agreed = roots(leaves, {size for _, _, size, _ in said}), 0
    for name, of, size, root in sorted(said, key=lambda it: it[2]):
        if of != origin:
            wrong.append(f"{name}: it is of the log {of}")
        elif size > len(data):
            wrong.append(f"{name}: records {len(data)} to {size - 1} are not there: the end was cut off, or the copy is old")
        elif size and found[size] != root:
            wrong.append(f"{name}: records {agreed} to {size - 1} are not those that were signed")
        else:
            agreed = max(agreed, size)
    if said and max((size for name, _, size, _ in said if name == "checkpoint"), default=0) != len(data):
        wrong.append("the folder does not hold what its checkpoint covers")
    known = {"checkpoint", "key", "openings.jsonl"} | {f"texts/{sha(body).hex()}" for body in files.values()}
    for path, body in tiles(leaves).items():
        known.add(path)
        if files.get(path) != body:
            wrong.append(f"{path}: it is not the tile of these records")
    known |= {tile("entries", at // 256, min(256, len(data) - at)) for at in range(0, len(data), 256)}
    wrong.extend(f"{path}: it is of no export" for path in files if path not in known)
    return origin, len(data)


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("folder", type=pathlib.Path)
    flags.add_argument("--against", type=pathlib.Path, action="append", default=[], metavar="CHECKPOINT")
    flags.add_argument("--key", metavar="NAME+HASH+KEY")
    given = flags.parse_args()
    files = {str(path.relative_to(given.folder)): path.read_bytes() for path in given.folder.rglob("*") if path.is_file()}
    kept = [(str(path), path.read_text()) for path in given.against]
    try:
        origin, size = verify(files, kept, given.key)
    except Exception as error:  # whatever was done to the files, the answer is that they do not hold
        wrong.append(f"it can't be read as an export: {error!r}")
    for line in wrong:
        print("WRONG:", line)
    if not wrong:
        print(f"sound: {size} records of {origin}" + (", as the kept checkpoints say" if kept else ""))
    return 4 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
