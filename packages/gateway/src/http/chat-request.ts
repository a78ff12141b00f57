/** Parses requests for chat completions. Pure. */
import type { ImageContent } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";
import { GatewayError } from "../errors.ts";

export interface ChatMessage {
  role: "system" | "user" | "assistant";
  text: string;
  images: ImageContent[];
}

export interface ChatRequest {
  model: string;
  /** Messages from before; only a new session takes them over. */
  history: ChatMessage[];
  /** The messages of the user at the end, which are to be answered. */
  prompt: { text: string; images: ImageContent[] };
  stream: boolean;
  includeUsage: boolean;
}

/** Throws `invalid_parameters`. Fields that only tune a model, such as `temperature`, are not used. */
export function parseChatRequest(body: unknown): ChatRequest {
  if (!isRecord(body)) throw wrong("The body has to be a JSON object.");
  refuseUnsupported(body);
  const { model, messages, stream, stream_options: streamOptions } = body;
  if (typeof model !== "string" || model === "") throw wrong("`model` has to name a model or an agent.");
  if (!Array.isArray(messages) || messages.length === 0) throw wrong("`messages` has to be a list with a message.");
  if (stream !== undefined && stream !== null && typeof stream !== "boolean") {
    throw wrong("`stream` has to be true or false.");
  }
  const parsed = messages.map(parseMessage);
  const start = parsed.findLastIndex(({ role }) => role !== "user") + 1;
  const last = parsed.slice(start);
  if (last.length === 0) throw wrong("The last of `messages` has to be one of the role `user`.");
  const prompt = { text: last.map(({ text }) => text).join("\n\n"), images: last.flatMap(({ images }) => images) };
  if (prompt.text.trim() === "" && prompt.images.length === 0) throw wrong("The last message has no content.");
  return {
    model,
    history: parsed.slice(0, start),
    prompt,
    stream: stream === true,
    includeUsage: isRecord(streamOptions) && streamOptions["include_usage"] === true,
  };
}

/** Refused rather than left out: the client would wait for what never comes. */
function refuseUnsupported(body: Record<string, unknown>): void {
  const own = ["tools", "functions"].find((name) => !isEmpty(body[name]));
  if (own !== undefined) {
    throw wrong(`\`${own}\` is not supported: the tools of the gateway run here, and a client cannot bring its own.`);
  }
  if (!isEmpty(body["n"]) && body["n"] !== 1) throw wrong("`n` has to be 1: there is one answer.");
  const format = body["response_format"];
  if (!isEmpty(format) && !(isRecord(format) && format["type"] === "text")) {
    throw wrong("`response_format` has to be text.");
  }
  if (body["logprobs"] === true) throw wrong("`logprobs` is not supported.");
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

const roles: Readonly<Record<string, ChatMessage["role"]>> = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
};

function parseMessage(message: unknown, index: number): ChatMessage {
  const name = `messages[${index}]`;
  if (!isRecord(message)) throw wrong(`${name} has to be an object.`);
  const { role, content } = message;
  const known = typeof role === "string" && Object.hasOwn(roles, role) ? roles[role] : undefined;
  if (!known) throw wrong(`${name}.role has to be one of ${Object.keys(roles).join(", ")}.`);
  if (!isEmpty(message["tool_calls"]) || !isEmpty(message["function_call"])) {
    throw wrong(`${name} has calls of tools that are not the gateway's, which is not supported.`);
  }
  if (typeof content === "string") return { role: known, text: content, images: [] };
  if (!Array.isArray(content)) throw wrong(`${name}.content has to be a text or a list of parts.`);
  const parts = content.map((part, place) => parsePart(part, `${name}.content[${place}]`));
  const images = parts.flatMap((part) => (typeof part === "string" ? [] : [part]));
  if (images.length > 0 && known !== "user")
    throw wrong(`${name} has an image, which only the role \`user\` can send.`);
  return { role: known, text: parts.filter((part) => typeof part === "string").join("\n"), images };
}

function parsePart(part: unknown, name: string): string | ImageContent {
  if (isRecord(part) && part["type"] === "text" && typeof part["text"] === "string") return part["text"];
  if (!isRecord(part) || part["type"] !== "image_url") throw wrong(`${name} has to be a text or an image.`);
  const { url } = isRecord(part["image_url"]) ? part["image_url"] : {};
  const match = /^data:(image\/[\w.+-]+);base64,([A-Za-z0-9+/]+={0,2})$/.exec(typeof url === "string" ? url : "");
  if (!match) throw wrong(`${name} has to be an image as a data: address. The gateway loads none from elsewhere.`);
  return { type: "image", mimeType: match[1]!, data: match[2]! };
}

const wrong = (message: string): GatewayError => new GatewayError("invalid_parameters", message);
