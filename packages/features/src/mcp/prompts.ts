/** Prompts of servers as slash commands: `/server:prompt value name=value`. */
import type { CommandDefinition, ExtensionAPI } from "@tau/extensions";
import { splitArguments } from "@tau/config/internal";
import type { ImageContent, TextContent } from "@tau/ai";
import type { McpPromptDefinition } from "./definitions.ts";
import { McpError } from "./failure.ts";
import type { McpServers } from "./servers.ts";
import { toVisible } from "../kit/visible-text.ts";

/** Makes a name without spaces, for people to type. */
export const toCommandName = (server: string, prompt: string): string => `${server}:${prompt}`.replaceAll(/\s+/g, "_");

type ParsedArguments =
  | { readonly kind: "parsed"; readonly values: Readonly<Record<string, string>> }
  | { readonly kind: "wrong"; readonly message: string };

/** `name=value` sets an argument by name; other words fill the rest in order, and the last of them takes all that is left. Pure. */
function parsePromptArguments(text: string, { arguments: known }: McpPromptDefinition): ParsedArguments {
  const values: Record<string, string> = {};
  const plain: string[] = [];
  for (const word of splitArguments(text)) {
    const [, name, value] = /^([^=\s]+)=([\s\S]*)$/.exec(word) ?? [];
    if (name !== undefined && known.some((argument) => argument.name === name)) values[name] = value!;
    else plain.push(word);
  }
  const open = known.filter(({ name }) => !Object.hasOwn(values, name));
  for (const [index, { name }] of open.entries()) {
    const isLast = index === open.length - 1;
    const words = isLast ? plain.slice(index) : plain.slice(index, index + 1);
    if (words.length > 0) values[name] = words.join(" ");
  }
  const missing = known.filter(({ name, required }) => required && !Object.hasOwn(values, name));
  if (missing.length > 0)
    return { kind: "wrong", message: `It needs ${missing.map(({ name }) => toVisible(name)).join(", ")}.` };
  if (open.length === 0 && plain.length > 0)
    return { kind: "wrong", message: `It does not take ${plain.map((word) => JSON.stringify(word)).join(" ")}.` };
  return { kind: "parsed", values };
}

export function createPromptCommand(
  tau: Pick<ExtensionAPI, "requestAccess" | "sendUserMessage">,
  servers: McpServers,
  { server, prompt }: { server: string; prompt: McpPromptDefinition },
): CommandDefinition {
  const usage = prompt.arguments.map(({ name, required }) => (required ? name : `[${name}]`)).join(" ");
  return {
    description: [prompt.description, usage && `(${toVisible(usage)})`].filter((part) => part !== "").join(" "),
    getArgumentCompletions: (prefix) =>
      prompt.arguments
        .filter(({ name }) => `${name}=`.startsWith(prefix))
        .map(({ name, description }) => ({ value: `${name}=`, label: `${name}=`, description })),
    async handler(args, { ui, isIdle }) {
      const parsed = parsePromptArguments(args, prompt);
      if (parsed.kind === "wrong") {
        ui.notify(`/${toCommandName(server, prompt.name)}: ${parsed.message} Usage: ${usage}`, "warning");
        return;
      }
      try {
        const denied = await requestText(tau, { server, prompt });
        if (denied !== undefined) return ui.notify(denied, "warning");
        const { messages } = await servers.run(server, (connection) =>
          connection.getPrompt(prompt.name, { ...parsed.values }),
        );
        const content = messages.flatMap(({ role, content }) => toContent(role, content as PromptContent));
        if (content.length === 0) ui.notify(`The prompt ${prompt.name} of ${server} is empty.`, "warning");
        else tau.sendUserMessage(content, isIdle() ? {} : { deliverAs: "followUp" });
      } catch (error) {
        if (!(error instanceof McpError)) throw error;
        ui.notify(error.message, "error");
      }
    },
  };
}

/** Returns why the text may not come in; undefined if it may. Records that it does. */
async function requestText(
  tau: Pick<ExtensionAPI, "requestAccess">,
  { server, prompt }: { server: string; prompt: McpPromptDefinition },
): Promise<string | undefined> {
  const name = toCommandName(server, prompt.name);
  const target = { kind: "name", name: `prompt /${name}` } as const;
  const verdict = await tau.requestAccess([{ capability: "tool", target, textFrom: `the MCP server ${server}` }], {
    name: "prompt",
    summary: `/${name}`,
  });
  return verdict.kind === "denied" ? verdict.reason : undefined;
}

interface PromptContent {
  type: string;
  text?: string;
  data?: string;
  mimeType?: string;
  resource?: { uri: string; text?: string };
}

/** Quotes messages that a server attributes to the model: the person sends the whole as their own message. */
function toContent(
  role: string,
  { type, text, data, mimeType, resource }: PromptContent,
): (TextContent | ImageContent)[] {
  const lead = role === "assistant" ? "Assistant: " : "";
  if (type === "text" && text !== undefined) return [{ type: "text", text: `${lead}${toVisible(text)}` }];
  if (type === "image" && data !== undefined && mimeType !== undefined) return [{ type: "image", data, mimeType }];
  if (type === "resource" && resource?.text !== undefined)
    return [{ type: "text", text: `${toVisible(resource.uri)}:\n${toVisible(resource.text)}` }];
  return [{ type: "text", text: `[${type} was left out]` }];
}
