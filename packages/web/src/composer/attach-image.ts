/** An image that goes along with a message. */
export interface AttachedImage {
  name: string;
  mimeType: string;
  /** Base64. */
  data: string;
}

/** The gateway takes frames of one megabyte, and Base64 adds a third. */
const maxBytes = 700_000;

export async function readImage(file: File): Promise<AttachedImage> {
  if (file.size > maxBytes) throw new Error(`${file.name} is larger than 700 KB. Make it smaller first.`);
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(reader.error ?? new Error(`${file.name} could not be read.`)));
    reader.readAsDataURL(file);
  });
  return { name: file.name || "Image", mimeType: file.type, data: url.slice(url.indexOf(",") + 1) };
}
