/** The extensions below `examples/`, as a user loads them: from their files, in a session with a scripted model. */
import { join } from "node:path";
import { type ExtensionUi, noUi } from "@tau/extensions";
import { createTestSession, type TestSession, type TestSessionParams, type TestTurn } from "@tau/harness/testing";
import { onTestFinished } from "vitest";
import { loadSharedModule } from "../../src/hosting/shared-modules.ts";

export const examples = join(import.meta.dirname, "../../../../examples/extensions");

export interface ExampleParams extends TestSessionParams {
  /** The values of flags of the extension. */
  flags?: ReadonlyMap<string, boolean | string>;
  /** The interface that shows questions and answers them. Default: nobody is there. */
  ui?: Partial<ExtensionUi>;
}

/** `name`: of a file or a directory. */
export const openExample = (name: string, turns: readonly TestTurn[], params: ExampleParams = {}) =>
  openExtension(join(examples, name), turns, params);

export async function openExtension(
  path: string,
  turns: readonly TestTurn[],
  { flags = new Map(), ui, ...params }: ExampleParams = {},
): Promise<TestSession> {
  const opened = await createTestSession(turns, {
    ...params,
    extensions: { paths: [path], flags, loadShared: loadSharedModule },
  });
  onTestFinished(() => opened.dispose());
  if (ui) await opened.session.attachSurface({ mode: "tui", ui: { ...noUi, ...ui } });
  return opened;
}

/** The texts of the results of calls, in order. */
export const listResults = ({ session }: TestSession): string[] =>
  session.messages.flatMap((message) =>
    message.role === "toolResult"
      ? message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")
      : [],
  );
