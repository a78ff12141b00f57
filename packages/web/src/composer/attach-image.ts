/** An image that goes along with a message. */
export interface AttachedImage {
  name: string;
  mimeType: string;
  /** Base64. */
  data: string;
}

/** The limit for all images of a message: the gateway takes frames of one megabyte, and Base64 adds a third. */
const maxBytes = 700_000;
/** Models make larger images smaller themselves. */
const maxSide = 1_600;
const qualities = [0.85, 0.7, 0.5, 0.3];

const types: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** An image for a message that has `others` already. What is too large is made smaller. */
export async function readImage(file: File, others: readonly AttachedImage[]): Promise<AttachedImage> {
  const leftBytes = maxBytes - others.reduce((sum, { data }) => sum + data.length * 0.75, 0);
  const name = file.name || "Image";
  const isTaken = types.has(file.type) && file.size <= leftBytes;
  const blob = isTaken ? file : await shrinkImage(file, name, leftBytes);
  return { name, mimeType: blob.type, data: await readBase64(blob, name) };
}

async function shrinkImage(file: File, name: string, leftBytes: number): Promise<Blob> {
  const bitmap = await createImageBitmap(file).catch((error: unknown) => {
    throw new Error(`${name} is not an image that can be read here.`, { cause: error });
  });
  const scale = Math.min(1, maxSide / Math.max(bitmap.width, bitmap.height));
  const [width, height] = [bitmap.width, bitmap.height].map((side) => Math.max(1, Math.round(side * scale)));
  const canvas = new OffscreenCanvas(width!, height!);
  const context = canvas.getContext("2d")!;
  // JPEG has no transparency.
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  for (const quality of qualities) {
    const blob = await canvas.convertToBlob({ type: "image/jpeg", quality });
    if (blob.size <= leftBytes) return blob;
  }
  throw new Error(`There is no room for ${name}: the images of a message may have 700 KB together.`);
}

async function readBase64(blob: Blob, name: string): Promise<string> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(reader.error ?? new Error(`${name} could not be read.`)));
    reader.readAsDataURL(blob);
  });
  return url.slice(url.indexOf(",") + 1);
}
