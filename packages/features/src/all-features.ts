import type { Feature } from "@tau/extensions";
import { agents } from "./agents/feature.ts";
import { ast } from "./ast/feature.ts";
import { ask } from "./ask/feature.ts";
import { browser } from "./browser/feature.ts";
import { btw } from "./btw/feature.ts";
import { calc } from "./calc/feature.ts";
import { codemode } from "./codemode/feature.ts";
import { context } from "./context/feature.ts";
import { debug } from "./debug/feature.ts";
import { discovery } from "./discovery/feature.ts";
import { hooks } from "./hooks/feature.ts";
import { lsp } from "./lsp/feature.ts";
import { goal } from "./goal/feature.ts";
import { github } from "./github/feature.ts";
import { init } from "./init/feature.ts";
import { inspectImage } from "./inspect-image/feature.ts";
import { kernels } from "./kernels/feature.ts";
import { mcp } from "./mcp/feature.ts";
import { memory } from "./memory/feature.ts";
import { worktrees } from "./agents/worktrees/feature.ts";
import { plan } from "./plan/feature.ts";
import { review } from "./review/feature.ts";
import { titles } from "./titles/feature.ts";
import { todo } from "./todo/feature.ts";
import { undo } from "./undo/feature.ts";
import { watch } from "./watch/feature.ts";
import { web } from "./web/feature.ts";

/** The features that the program and the gateway give to their sessions, in the order of their tools in requests. */
export const allFeatures: readonly Feature[] = [
  agents(),
  todo(),
  discovery(),
  mcp(),
  worktrees(),
  plan(),
  ask(),
  codemode(),
  lsp(),
  debug(),
  calc(),
  inspectImage(),
  kernels(),
  ast(),
  web(),
  browser(),
  github(),
  memory(),
  undo(),
  hooks(),
  context(),
  review(),
  init(),
  btw(),
  titles(),
  watch(),
  goal(),
];
