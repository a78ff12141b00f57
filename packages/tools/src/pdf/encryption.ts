/**
 * The standard encryption of PDFs (ISO 32000-2, 7.6), opened with an empty password: most encrypted files have one, and only ask
 * readers not to print or copy. RC4 with 40 to 128 bits, AES with 128 and 256 bits.
 */
import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import { rc4 } from "./rc4.ts";
import { type PdfDict, PdfFailure, PdfName, PdfString, type PdfValue } from "./values.ts";

/** The number and the generation of an object, on which its key depends. */
export interface ObjectId {
  readonly number: number;
  readonly generation: number;
}

type Method = "none" | "rc4" | "aes128" | "aes256";

export interface Decryption {
  decryptStream(bytes: Uint8Array, id: ObjectId): Uint8Array;
  decryptString(bytes: Uint8Array, id: ObjectId): Uint8Array;
}

interface EncryptionFacts {
  readonly revision: number;
  readonly keyBytes: number;
  readonly permissions: number;
  readonly owner: Uint8Array;
  readonly user: Uint8Array;
  /** The key of the file, encrypted with one made of the password. */
  readonly userKey: Uint8Array;
  readonly encryptsMetadata: boolean;
  readonly streams: Method;
  readonly strings: Method;
}

type Get = (dict: PdfDict, key: string) => PdfValue;

/** Throws a `PdfFailure` if a password is needed, or the encryption is another one. `fileId` is the first part of the file's `ID`. */
export function openEncryption(dict: PdfDict, { get, fileId }: { get: Get; fileId: Uint8Array }): Decryption {
  const facts = readFacts(dict, get);
  const key = facts.revision >= 5 ? findLongKey(facts) : findKey(facts, fileId);
  if (!key) throw new PdfFailure("encrypted", "It can only be opened with a password.");
  return {
    decryptStream: (bytes, id) => decrypt(facts.streams, bytes, { key, id }),
    decryptString: (bytes, id) => decrypt(facts.strings, bytes, { key, id }),
  };
}

function readFacts(dict: PdfDict, get: Get): EncryptionFacts {
  const getNumber = (name: string, fallback: number): number => {
    const value = get(dict, name);
    return typeof value === "number" ? value : fallback;
  };
  const getBytes = (name: string, length: number): Uint8Array => {
    const value = get(dict, name);
    return value instanceof PdfString ? value.bytes.subarray(0, length) : new Uint8Array();
  };
  const version = getNumber("V", 0);
  const revision = getNumber("R", 0);
  if (getName(get(dict, "Filter")) !== "Standard" || ![1, 2, 4, 5].includes(version) || revision < 2 || revision > 6)
    throw unknownEncryption();
  const hashBytes = revision >= 5 ? 48 : 32;
  const getMethod = (name: string): Method => {
    if (version < 4) return "rc4";
    const filter = getName(get(dict, name)) ?? "Identity";
    const filters = get(dict, "CF");
    return filter === "Identity" ? "none" : readMethod(filters instanceof Map ? get(filters, filter) : null, get);
  };
  const bits = version === 1 ? 40 : getNumber("Length", version === 4 ? 128 : 40);
  return {
    revision,
    keyBytes: Math.min(16, Math.max(5, Math.floor(bits / 8))),
    permissions: getNumber("P", 0),
    owner: getBytes("O", hashBytes),
    user: getBytes("U", hashBytes),
    userKey: getBytes("UE", 32),
    encryptsMetadata: get(dict, "EncryptMetadata") !== false,
    streams: getMethod("StmF"),
    strings: getMethod("StrF"),
  };
}

const methods: Readonly<Record<string, Method>> = { None: "none", V2: "rc4", AESV2: "aes128", AESV3: "aes256" };

function readMethod(filter: PdfValue, get: Get): Method {
  const name = filter instanceof Map ? getName(get(filter as PdfDict, "CFM")) : undefined;
  const method = methods[name ?? ""];
  if (!method) throw unknownEncryption();
  return method;
}

const getName = (value: PdfValue): string | undefined => (value instanceof PdfName ? value.name : undefined);

const unknownEncryption = (): PdfFailure =>
  new PdfFailure("encrypted", "The way in which it is encrypted is not known here.");

/** Fills up passwords; an empty one consists of it. */
const padding = Buffer.from("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a", "hex");

const md5 = (...parts: readonly Uint8Array[]): Buffer => hash("md5", ...parts);

function hash(name: string, ...parts: readonly Uint8Array[]): Buffer {
  const digest = createHash(name);
  for (const part of parts) digest.update(part);
  return digest.digest();
}

/** Undefined if an empty password is not that of the file. */
function findKey(facts: EncryptionFacts, fileId: Uint8Array): Uint8Array | undefined {
  const { revision, owner, user, permissions, encryptsMetadata } = facts;
  const permissionBytes = Buffer.alloc(4);
  permissionBytes.writeInt32LE(permissions | 0);
  const metadata = revision >= 4 && !encryptsMetadata ? Buffer.alloc(4, 0xff) : Buffer.alloc(0);
  const keyBytes = revision === 2 ? 5 : facts.keyBytes;
  let key = md5(padding, owner, permissionBytes, fileId, metadata).subarray(0, keyBytes);
  if (revision === 2) return isEqual(rc4(key, padding), user) ? key : undefined;
  for (let round = 0; round < 50; round++) key = md5(key).subarray(0, keyBytes);
  let check: Uint8Array = md5(padding, fileId);
  for (let round = 0; round < 20; round++)
    check = rc4(
      key.map((byte) => byte ^ round),
      check,
    );
  return isEqual(check, user.subarray(0, 16)) ? key : undefined;
}

/** The key of 256 bits. Undefined if an empty password is not that of the file. */
function findLongKey({ revision, user, userKey }: EncryptionFacts): Uint8Array | undefined {
  const hashPassword = revision === 5 ? (salt: Uint8Array) => hash("sha256", salt) : hashSlowly;
  if (user.length < 48 || userKey.length < 32 || !isEqual(hashPassword(user.subarray(32, 40)), user.subarray(0, 32)))
    return undefined;
  const decipher = createDecipheriv("aes-256-cbc", hashPassword(user.subarray(40, 48)), Buffer.alloc(16));
  return Buffer.concat([decipher.setAutoPadding(false).update(userKey), decipher.final()]);
}

/** The hash of an empty password, which is made to take long. */
function hashSlowly(salt: Uint8Array): Buffer {
  let key = hash("sha256", salt);
  for (let round = 1; ; round++) {
    const cipher = createCipheriv("aes-128-cbc", key.subarray(0, 16), key.subarray(16, 32)).setAutoPadding(false);
    const encrypted = cipher.update(Buffer.concat(Array.from({ length: 64 }, () => key)));
    const sum = encrypted.subarray(0, 16).reduce((total, byte) => total + byte, 0);
    key = hash(["sha256", "sha384", "sha512"][sum % 3]!, encrypted);
    if (round >= 64 && encrypted.at(-1)! <= round - 32) return key.subarray(0, 32);
  }
}

function decrypt(method: Method, bytes: Uint8Array, { key, id }: { key: Uint8Array; id: ObjectId }): Uint8Array {
  switch (method) {
    case "none":
      return bytes;
    case "rc4":
      return rc4(getObjectKey(key, id), bytes);
    case "aes128":
      return decryptAes("aes-128-cbc", getObjectKey(key, id, Buffer.from("sAlT")), bytes);
    case "aes256":
      return decryptAes("aes-256-cbc", key, bytes);
  }
}

function getObjectKey(key: Uint8Array, { number, generation }: ObjectId, salt: Uint8Array = Buffer.alloc(0)): Buffer {
  const id = Uint8Array.of(number, number >> 8, number >> 16, generation, generation >> 8);
  return md5(key, id, salt).subarray(0, Math.min(16, key.length + 5));
}

/** The first block is the start value. What is damaged is decrypted as far as it goes. */
function decryptAes(algorithm: string, key: Uint8Array, bytes: Uint8Array): Uint8Array {
  const length = bytes.length - (bytes.length % 16);
  if (length < 32) return new Uint8Array();
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, 16)).setAutoPadding(false);
  const text = decipher.update(bytes.subarray(16, length));
  const filled = text.at(-1)!;
  return filled >= 1 && filled <= 16 ? text.subarray(0, text.length - filled) : text;
}

const isEqual = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) === 0;
