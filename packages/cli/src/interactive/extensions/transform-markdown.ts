import type { Look } from "../look.ts";
import type { MarkdownContext } from "./renderers.ts";

/** Lets extensions change a text before it is drawn. */
export function transformMarkdown(
  { renderers, getColumns, outputPad }: Look,
  text: string,
  context: Pick<MarkdownContext, "messageType" | "isStreaming">,
): string {
  if (!renderers || text === "") return text;
  return renderers.transformMarkdown(text, { ...context, availableWidth: Math.max(1, getColumns() - 2 * outputPad) });
}
