/** The result of a script for the model. Pure. */
import type { ImageContent, TextContent } from "@tau/ai";
import { mergeTexts } from "../kit/merge-texts.ts";
import type { ScriptResult } from "./engine/run-script.ts";
import type { OutputItem } from "./engine/worker.ts";

/** A script's output as blocks, before it is cut. */
interface ScriptOutput {
  readonly blocks: readonly (TextContent | ImageContent)[];
  /** All texts of it. */
  readonly text: string;
}

/** Characters that are counted as one token. */
const charactersPerToken = 4;

/** Joins the output. `paths` are the files of the images, in their order; undefined for one that could not be kept. */
export function formatOutput(items: readonly OutputItem[], paths: readonly (string | undefined)[]): ScriptOutput {
  const blocks: (TextContent | ImageContent)[] = [];
  const add = (text: string): void => {
    const last = blocks.at(-1);
    if (last?.type === "text") blocks[blocks.length - 1] = { ...last, text: `${last.text}\n${text}` };
    else blocks.push({ type: "text", text });
  };
  const texts = items.filter(({ kind }) => kind === "text").length;
  let [textIndex, imageIndex] = [0, 0];
  for (const item of items) {
    if (item.kind === "text") {
      textIndex++;
      add(texts > 1 ? `==> text ${textIndex}/${texts} <==\n${item.text}` : item.text);
    } else if (item.kind === "image") {
      const path = paths[imageIndex++];
      if (path !== undefined) add(`[Image: ${path}]`);
      blocks.push({ type: "image", data: item.data, mimeType: item.mimeType });
    }
  }
  const logged = items.flatMap((item) => (item.kind === "console" ? [item.text] : []));
  if (logged.length > 0) add(`<console_output>\n${logged.join("\n")}\n</console_output>`);
  return { blocks, text: blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n") };
}

/** Keeps the start and the end of an output that is too long, and names the file with all of it. */
export function limitOutput(
  { blocks, text }: ScriptOutput,
  maxTokens: number,
  keptPath: string | undefined,
): ScriptOutput["blocks"] {
  const max = maxTokens * charactersPerToken;
  if (!isTooLong(text, maxTokens)) return blocks;
  const head = text.slice(0, Math.ceil(max / 2)).toWellFormed();
  const tail = text.slice(text.length - Math.floor(max / 2)).toWellFormed();
  const rest = keptPath === undefined ? "" : ` All of it is in ${keptPath}`;
  const cut = `${head}\n[… ${text.length - max} characters were left out.${rest} …]\n${tail}`;
  return [{ type: "text", text: cut }, ...blocks.filter((block) => block.type === "image")];
}

export const isTooLong = (text: string, maxTokens: number): boolean => text.length > maxTokens * charactersPerToken;

/** The whole result: how the script ended, how long it took, its output, and its error. */
export function formatResult(
  { end, durationMs }: ScriptResult,
  blocks: ScriptOutput["blocks"],
): ScriptOutput["blocks"] {
  const title = end.kind === "completed" ? "Script completed" : "Script failed";
  const header = `${title}\nWall time: ${(durationMs / 1_000).toFixed(1)} seconds\nOutput:`;
  const error = end.kind === "failed" ? [`Script error:\n${end.message}`] : [];
  return mergeTexts([
    { type: "text", text: header },
    ...(blocks.length > 0 ? blocks : [{ type: "text", text: "(no output)" } as const]),
    ...error.map((text) => ({ type: "text", text }) as const),
  ]);
}
