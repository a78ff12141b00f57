/** The code of the feature `inspect_image`. */
import { type ImageContent, type Model, systemClock } from "@tau/ai";
import { joinTextBlocks } from "@tau/ai/internal";
import type { ExtensionFactory, ExtensionToolContext } from "@tau/extensions";
import { type ImageFacts, inspectImage, prepareImage } from "@tau/tools";
import { toVisibleLine } from "../kit/visible-text.ts";
import { inspectImageTool, resolveImagePath } from "./feature.ts";

const maxFileBytes = 50 * 1024 * 1024;
const maxQuestion = 20_000;
const maxValue = 200;

export const inspectImageExtension: ExtensionFactory = (tau) => {
  tau.registerTool({
    ...inspectImageTool,
    async execute(_id, args: { path: string; question?: string }, signal, _onUpdate, context) {
      const path = resolveImagePath(context.cwd, args);
      const { bytes } = await context.ports!.files.readWhole(path, maxFileBytes);
      const limits = { clock: systemClock, signal, path: args.path };
      const facts = await inspectImage(bytes, limits);
      const lines = [describeFacts(facts, bytes.length)];
      if (args.question !== undefined && args.question.trim() !== "") {
        if (facts.type === "image/tiff") throw new Error(`Models do not take TIFF images. Convert ${args.path} first.`);
        const { image } = await prepareImage(bytes, facts.type, limits);
        lines.push(await ask(context, image, args.question.slice(0, maxQuestion), signal));
      }
      return { content: [{ type: "text", text: lines.join("\n\n") }], details: {} };
    },
  });
};

function describeFacts({ type, width, height, exif, palette }: ImageFacts, size: number): string {
  const colours = palette?.map(({ colour, share }) => `${colour} ${Math.round(share * 100)}%`).join(", ");
  return [
    `${type}, ${width}×${height} pixels, ${size} bytes`,
    ...(exif?.fields ?? []).map(([name, value]) => `${name}: ${toVisibleLine(value, maxValue)}`),
    ...(exif?.hasLocation ? ["location: there is one, which is not shown"] : []),
    `colours: ${colours === undefined ? "the pixels cannot be read" : colours || "none: all of it is transparent"}`,
  ].join("\n");
}

/** Asks the model of the role `vision`, else that of the session. */
async function ask(
  { model: current, modelRegistry }: ExtensionToolContext,
  image: ImageContent,
  question: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const model: Model | undefined = modelRegistry.findRole("vision")?.model ?? current;
  if (!model) throw new Error("No model is chosen that could answer the question.");
  if (!model.input.includes("image"))
    throw new Error(`${model.provider}/${model.id} does not see images. Give the role vision a model that does.`);
  const messages = [
    { role: "user" as const, content: [{ type: "text" as const, text: question }, image], timestamp: 0 },
  ];
  const answer = await modelRegistry.complete(model, { messages }, signal ? { signal } : {});
  if (answer.stopReason === "error" || answer.stopReason === "aborted")
    throw new Error(answer.errorMessage ?? "The model did not answer.");
  return joinTextBlocks(answer.content.filter((block) => block.type === "text"));
}
