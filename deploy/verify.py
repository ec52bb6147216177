#!/usr/bin/env python3
"""Verifies an exported ledger of Warrant without Warrant: verify.py FOLDER [--against CHECKPOINT]... [--key KEY]

FOLDER comes from `warrant audit export --format folder`. A CHECKPOINT is one that was kept elsewhere: only such a one
shows that the end was cut off, or that all of the history was written anew. Needs Python 3.9 and `cryptography`.
Exits 0 where all of it holds, 4 where something does not, and says which record. The tiles of hashes are not looked at:
every hash is made from the records here.
"""
import argparse, base64, hashlib, json, pathlib, sys
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()

def opened(note, keys):  # the text of a signed note (C2SP signed-note), if one of these keys, NAME+ID+KEY, signed it
    text, _, signatures = note.rpartition("\n\n")
    for name, ident, key in (key.strip().split("+", 2) for key in keys):
        raw = base64.b64decode(key, validate=True)  # a byte for Ed25519, then the key
        for signature in signatures.splitlines():
            signed = base64.b64decode(signature.split(" ")[2], validate=True)
            if signature.startswith(f"\u2014 {name} ") and signed[:4].hex() == ident == sha(name.encode(), b"\n", raw)[:4].hex():
                try:
                    Ed25519PublicKey.from_public_bytes(raw[1:]).verify(signed[4:], (text + "\n").encode())
                    return text + "\n"
                except InvalidSignature:
                    pass
    raise ValueError("the log's key did not sign it")

def roots(leaves, sizes):  # the root of the Merkle tree (RFC 6962) over the first leaves, for each of these sizes
    edge, found = [], {0: sha()}
    for size, leaf in enumerate(leaves, 1):
        rest = size
        while rest % 2 == 0:
            leaf, rest = sha(b"\1", edge.pop(), leaf), rest // 2
        edge.append(leaf)
        if size in sizes:
            found[size] = edge[-1]
            for left in reversed(edge[:-1]):
                found[size] = sha(b"\1", left, found[size])
    return found

def entries(folder, size):  # the records' bytes, out of the tiles of entries (C2SP tlog-tiles): two bytes of length before each
    for first in range(0, size, 256):
        number, width = first // 256, min(256, size - first)
        path = f"{number % 1000:03}" + (f".p/{width}" if width < 256 else "")
        while number := number // 1000:
            path = f"x{number % 1000:03}/{path}"
        data = (folder / "tile/entries" / path).read_bytes()
        while data:
            end = 2 + int.from_bytes(data[:2], "big")
            yield data[2:end]
            data = data[end:]

def record(seq, prev, data, line):  # the chain, and each value that is there against the commitment to it
    says, beside = json.loads(data), json.loads(line)
    if (says["schema"], says["seq"], beside["seq"], says["prev"]) != (1, seq, seq, prev.hex()):
        raise ValueError("it does not follow the record before it")
    for field, (salt, value) in beside["openings"].items():
        if bytes.fromhex(salt).hex() != salt:
            raise ValueError(f"its salt of `{field}` is in another form")
        if says["commitments"].get(field) != sha(bytes.fromhex(salt), field.encode(), b"\0", value.encode()).hex():
            raise ValueError(f"its value of `{field}` is not the one that it commits to")
    values = {field: json.loads(value) for field, (_, value) in beside["openings"].items()}
    return says["kind"], values, [(seq, field) for field in says["commitments"] if field not in values]

def verify(folder, kept, pinned):
    checkpoint = (folder / "checkpoint").read_text()
    data, lines = list(entries(folder, int(checkpoint.split("\n")[1]))), (folder / "openings.jsonl").read_bytes().splitlines()
    wrong = [] if len(data) == len(lines) else [f"there are {len(data)} records and openings of {len(lines)}"]
    origin = json.loads(json.loads(lines[0])["openings"]["origin"][1])
    prev, keys, missing, sealed, leaves = sha(b"warrant ledger\n", origin.encode(), b"\n"), [], [], set(), [sha(b"\0", entry) for entry in data]
    notes = [("checkpoint", checkpoint)] + [(str(path), path.read_text()) for path in kept]
    for seq, (entry, line) in enumerate(zip(data, lines)):
        try:
            kind, values, gone = record(seq, prev, entry, line)
            missing += gone
            if kind == "key_rotated" and opened(values["note"], keys[-1:]) != f"warrant key rotation\n{origin}\n{values['key']}\n":
                raise ValueError("the key before did not sign the next one")
            if kind == "key_rotated" or seq == 0:
                keys.append(values["key"])
            elif kind == "checkpoint":
                notes.append((f"record {seq}", values["note"]))
            elif kind == "sealed" and len({person["person"] for person in values["persons"]}) > 1:
                sealed |= {(values["about"], field) for field in values["fields"]}
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            wrong.append(f"record {seq}: {error!r}")
        prev = leaves[seq]
    wrong += [f"record {at[0]}: its value of `{at[1]}` is missing, and nobody sealed it" for at in missing if at not in sealed]
    if (folder / "key").read_text() != keys[-1] + "\n" or (pinned and pinned not in keys):
        wrong.append("the key is not the one that the log goes on under")
    root_of = roots(leaves, {int(note.split("\n")[1]) for _, note in notes})
    for name, note in notes:  # those in the records may be signed with a key before the pinned one
        try:
            said, size, root = opened(note, keys[keys.index(pinned):] if pinned in keys and name[:7] != "record " else keys).split("\n")[:3]
            if said != origin or (name == "checkpoint" and int(size) != len(data)):
                raise ValueError(f"it is of {size} records of {said}, and here are {len(data)} of {origin}")
            if int(size) > len(data):
                raise ValueError(f"records {len(data)} to {int(size) - 1} are not there: the end was cut off, or the copy is old")
            if root_of[int(size)] != base64.b64decode(root, validate=True):
                raise ValueError(f"the first {size} records are not those that were signed: one was changed, or the history written anew")
        except (ValueError, IndexError) as error:
            wrong.append(f"{name}: {error}")
    wrong += [f"texts/{path.name}: it is another text" for path in folder.glob("texts/*") if sha(path.read_bytes()).hex() != path.name]
    return wrong, f"{len(data)} records of {origin}"

def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("folder", type=pathlib.Path)
    flags.add_argument("--against", type=pathlib.Path, action="append", default=[], metavar="CHECKPOINT")
    flags.add_argument("--key", metavar="NAME+ID+KEY")
    given = flags.parse_args()
    try:
        wrong, what = verify(given.folder, given.against, given.key)
    except Exception as error:  # whatever was done to the files, the answer is that they do not hold
        wrong, what = [f"it can't be read as an export: {error!r}"], ""
    for line in wrong:
        print("WRONG:", line)
    if not wrong:
        print(f"sound: {what}" + (", as the kept checkpoints say" if given.against else ""))
    return 4 if wrong else 0

if __name__ == "__main__":
    sys.exit(main())
