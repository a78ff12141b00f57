/** The size of an image, from the beginning of its file. */

export interface ImageDimensions {
  widthPx: number;
  heightPx: number;
}

/** Undefined if the file is not of the format, or ends before its size. */
type ReadSize = (file: Buffer) => [width: number, height: number] | undefined;

const readPng: ReadSize = (file) => {
  const isPng = file.length >= 24 && file.readUInt32BE(0) === 0x89_50_4e_47;
  return isPng ? [file.readUInt32BE(16), file.readUInt32BE(20)] : undefined;
};

const readGif: ReadSize = (file) => {
  const isGif = file.length >= 10 && /^GIF8[79]a/.test(file.toString("latin1", 0, 6));
  return isGif ? [file.readUInt16LE(6), file.readUInt16LE(8)] : undefined;
};

const readJpeg: ReadSize = (file) => {
  if (file.length < 2 || file.readUInt16BE(0) !== 0xff_d8) return undefined;
  for (let index = 2; index + 9 <= file.length;) {
    const marker = file[index + 1] ?? 0;
    // Any number of 0xFF may come before a marker.
    if (file[index] !== 0xff || marker === 0xff) {
      index++;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [file.readUInt16BE(index + 7), file.readUInt16BE(index + 5)];
    const isAlone = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
    index += isAlone ? 2 : 2 + Math.max(2, file.readUInt16BE(index + 2));
  }
  return undefined;
};

const readWebp: ReadSize = (file) => {
  if (file.length < 30 || file.toString("latin1", 0, 4) !== "RIFF" || file.toString("latin1", 8, 12) !== "WEBP") {
    return undefined;
  }
  switch (file.toString("latin1", 12, 16)) {
    case "VP8 ":
      return [file.readUInt16LE(26) & 0x3f_ff, file.readUInt16LE(28) & 0x3f_ff];
    case "VP8L": {
      const bits = file.readUInt32LE(21);
      return [(bits & 0x3f_ff) + 1, ((bits >>> 14) & 0x3f_ff) + 1];
    }
    case "VP8X":
      return [file.readUIntLE(24, 3) + 1, file.readUIntLE(27, 3) + 1];
    default:
      return undefined;
  }
};

/** `maxBytes` is how much of the file has the size for certain. */
const read = (readSize: ReadSize, base64Data: string, maxBytes: number): ImageDimensions | null => {
  const size = readSize(Buffer.from(base64Data.slice(0, Math.ceil(maxBytes / 3) * 4), "base64"));
  return size ? { widthPx: size[0], heightPx: size[1] } : null;
};

export const getPngDimensions = (base64Data: string): ImageDimensions | null => read(readPng, base64Data, 24);
export const getGifDimensions = (base64Data: string): ImageDimensions | null => read(readGif, base64Data, 10);
export const getWebpDimensions = (base64Data: string): ImageDimensions | null => read(readWebp, base64Data, 30);
/** Thumbnails and profiles of any size may come first. */
export const getJpegDimensions = (base64Data: string): ImageDimensions | null =>
  read(readJpeg, base64Data, base64Data.length);

const readers = new Map([
  ["image/png", getPngDimensions],
  ["image/jpeg", getJpegDimensions],
  ["image/gif", getGifDimensions],
  ["image/webp", getWebpDimensions],
]);

export const getImageDimensions = (base64Data: string, mimeType: string): ImageDimensions | null =>
  readers.get(mimeType)?.(base64Data) ?? null;
