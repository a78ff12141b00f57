/** Turns what a person said, with all that goes along, into the content of a message. */
import type { ImageContent, TextContent } from "@tau/ai";
import { HarnessError } from "@tau/protocol";
import { type AskedRole, attachFiles, type ExpandPort, expandPrompt, fileBlock, inputBlock } from "../prompt/expand.ts";

export interface PromptContent {
  images?: ImageContent[];
  /** Files that go along, from the working directory if relative. Each has to be there. */
  files?: readonly string[];
  /** Text that goes along as it is, such as what a pipe says. */
  input?: string;
  /** Texts that go along as they are, each with the name of the file it is from, such as what is selected in an editor. */
  context?: readonly { name: string; text: string }[];
  /** Text that the session adds at the end. Nothing in it is expanded. */
  appended?: string;
  /** Whether templates, skills and file mentions are expanded. Default true. */
  expandPromptTemplates?: boolean;
}

/** No provider takes more of one image. In characters of base64: 15 MB of an image. */
const maxImageCharacters = 20 * 1024 * 1024;

/** An image that no request can carry would only be stored, and sent to each client of the session. */
export function refuseLargeImages(images: readonly ImageContent[] = []): void {
  for (const [index, { data }] of images.entries()) {
    if (data.length <= maxImageCharacters) continue;
    const sizes = `has ${formatMegabytes(data.length)}, and an image may have ${formatMegabytes(maxImageCharacters)}`;
    throw new HarnessError("invalid_input", `Image ${index + 1} ${sizes}. Make it smaller, or name its file instead.`);
  }
}

const formatMegabytes = (characters: number): string => `${((characters * 3) / 4 / 1024 ** 2).toFixed(1)} MB`;

/** `notices` are sentences for the user. */
interface ExpandedContent {
  content: (TextContent | ImageContent)[];
  notices: readonly string[];
  /** The role that a template or a skill asks for. */
  role?: AskedRole | undefined;
}

/** Throws `invalid_input` for what cannot be said. */
export async function getContent(
  text: string,
  { images = [], files = [], input, context = [], appended, expandPromptTemplates = true }: PromptContent,
  port: ExpandPort,
): Promise<ExpandedContent> {
  const attached = await attachFiles(files, port);
  if (attached.kind === "refused") throw new HarnessError("invalid_input", attached.reason);
  const texts = [...(input === undefined ? [] : [inputBlock(input)]), ...context.map(fileBlock)];
  const given = [...attached.content, ...texts, ...images];
  if (given.length === 0 && text.trim() === "") {
    throw new HarnessError("invalid_input", "The prompt is empty.");
  }
  const more = [...given, ...(appended === undefined ? [] : [{ type: "text", text: appended } as const])];
  if (!expandPromptTemplates) return { content: [{ type: "text", text }, ...more], notices: attached.notices };
  const expanded = await expandPrompt(text, port);
  if (expanded.kind === "refused") throw new HarnessError("invalid_input", expanded.reason);
  const notices = [...attached.notices, ...expanded.notices];
  return { content: [...expanded.content, ...more], notices, role: expanded.role };
}
