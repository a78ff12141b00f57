/** Images through OpenRouter's chat completions, with `modalities`. Pure. */
import { asRecord } from "@tau/ai/internal";
import { isCount, parseBlocks, toDataUrl, type WireProtocol } from "./wire.ts";

export const openrouterImages: WireProtocol = {
  encode(model, context) {
    const blocks = parseBlocks(asRecord(context)["input"]);
    if (blocks.length === 0) throw new Error("generateImages() needs an input.");
    const content = blocks.map((block) =>
      block.type === "text" ? block : { type: "image_url", image_url: { url: toDataUrl(block) } },
    );
    const modalities = Array.isArray(model["output"]) ? (model["output"] as unknown[]) : ["image", "text"];
    return {
      path: "/chat/completions",
      body: { model: model.id, messages: [{ role: "user", content }], modalities, stream: false },
    };
  },

  decode(response) {
    const [choice] = asList(asRecord(response)["choices"]);
    const { content, images } = asRecord(asRecord(choice)["message"]);
    const texts = typeof content === "string" && content !== "" ? [{ type: "text", text: content }] : [];
    const shown = asList(images).flatMap((image) => {
      const url = asRecord(asRecord(image)["image_url"])["url"];
      const [, mimeType, data] = (typeof url === "string" && /^data:(image\/[a-z+.-]+);base64,(.+)$/s.exec(url)) || [];
      return mimeType === undefined ? [] : [{ type: "image", data, mimeType }];
    });
    const output = [...texts, ...shown];
    if (output.length === 0) throw new Error("The answer has neither an image nor a text.");
    return { output };
  },

  readUsage(response) {
    const { prompt_tokens: input, completion_tokens: output, cost } = asRecord(asRecord(response)["usage"]);
    if (!isCount(input) || !isCount(output)) return undefined;
    return { input, output, ...(isCount(cost) && { cost }) };
  },
};

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
