/** The content of a message: text and images. */
import { Markdown } from "../markdown/markdown.tsx";
import type { Content } from "./messages.ts";

export function ContentView({ content }: { content: Content }) {
  if (typeof content === "string") return <Markdown text={content} />;
  return (
    <>
      {content.map((block, index) =>
        block.type === "text" ? (
          <Markdown key={index} text={block.text} />
        ) : block.type === "image" ? (
          <ImageView key={index} mimeType={block.mimeType} data={block.data} />
        ) : null,
      )}
    </>
  );
}

/** SVG is missing because it is a document that can hold scripts. */
const imageTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export function ImageView({ mimeType, data }: { mimeType: string; data: string }) {
  const isShown = imageTypes.has(mimeType) && typeof data === "string" && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
  if (!isShown) return <p class="muted">An image that cannot be shown ({String(mimeType)}).</p>;
  return <img class="picture" src={`data:${mimeType};base64,${data}`} alt="From the session" loading="lazy" />;
}
