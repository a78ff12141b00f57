/** Looks at four bytes at a time, three times as fast as one by one: a command may write hundreds of megabytes. Pure. */

/** The bytes as words; none if they do not begin at a multiple of four. The last three bytes may be missing. */
export const toWords = ({ buffer, byteOffset, length }: Uint8Array): Int32Array =>
  byteOffset % 4 === 0 ? new Int32Array(buffer, byteOffset, length >> 2) : new Int32Array();

const highBits = 0x80808080;
const lowBits = 0x7f7f7f7f;
const ones = 0x01010101;
const lineFeed = 0x0a;
const tab = 0x09;

/** The high bit of each byte of `word` that is `byte`. */
function findByte(word: number, byte: number): number {
  const difference = word ^ (byte * ones);
  return ~(((difference & lowBits) + lowBits) | difference | lowBits);
}

/** Whether all four bytes are ASCII, and none is a control character other than tab and line feed. */
export function isPlainWord(word: number): boolean {
  const controls =
    ~(((word | highBits) - 0x20202020) | 0) & highBits & ~findByte(word, lineFeed) & ~findByte(word, tab);
  const deletes = (word & lowBits) + ones;
  return (controls | ((word | deletes) & highBits)) === 0;
}

export function countLineFeeds(bytes: Uint8Array): number {
  const words = toWords(bytes);
  let count = 0;
  for (let index = 0; index < words.length; index++) {
    count += Math.imul(findByte(words[index]!, lineFeed) >>> 7, ones) >>> 24;
  }
  for (let index = words.length * 4; index < bytes.length; index++) if (bytes[index] === lineFeed) count++;
  return count;
}
