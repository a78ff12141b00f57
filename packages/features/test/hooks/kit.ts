/** Sessions with hooks, whose scripts are real files. */
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type ExtensionUi, noUi } from "@tau/extensions";
import { onTestFinished } from "vitest";
import { hooks } from "../../src/index.ts";
import { createTestSession, SurfaceUi, type TestSessionParams } from "../kit.ts";

type Turns = Parameters<typeof createTestSession>[0];

/** A surface that keeps what people were told, and answers questions. */
class HooksSurface extends SurfaceUi {
  readonly told: string[] = [];
  /** The rows of each menu that was shown. */
  readonly menus: string[][] = [];
  override readonly ui: ExtensionUi = {
    ...noUi,
    notify: (message) => void this.told.push(message),
    select: async (_title, options) => void this.menus.push(options),
  };
}

export interface HookSessionParams extends TestSessionParams {
  /** Scripts by their paths in the project. */
  scripts?: Readonly<Record<string, string>>;
  hooks?: Readonly<Record<string, unknown>>;
}

/** Opens a session with the hooks of a person's settings, and a surface. */
export async function openSession(turns: Turns, { scripts = {}, hooks: configured, ...params }: HookSessionParams) {
  const files = { ...params.files, ...scripts };
  const settings = { ...params.settings, ...(configured && { hooks: configured }) };
  const opened = await createTestSession(turns, { features: [hooks()], ...params, files, settings });
  onTestFinished(() => opened.dispose());
  for (const name of Object.keys(scripts)) await chmod(join(opened.cwd, name), 0o755);
  const surface = new HooksSurface();
  await opened.session.attachSurface(surface);
  return { ...opened, surface };
}

/** A hook group as it is written in settings. */
export const group = (command: string, more: Readonly<Record<string, unknown>> = {}, matcher?: string) => ({
  ...(matcher !== undefined && { matcher }),
  hooks: [{ type: "command", command, ...more }],
});

export async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** The results of calls so far, as texts. */
export const listResults = ({ session }: { session: Awaited<ReturnType<typeof openSession>>["session"] }) =>
  session.messages.flatMap((message) =>
    message.role === "toolResult"
      ? [
          {
            isError: message.isError,
            text: message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"),
          },
        ]
      : [],
  );
