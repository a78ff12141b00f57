import type { SessionManager } from "@tau/pi/internal";
import { ExtensionRunner } from "../extensions/runner.ts";
import type { ModelRegistry } from "../models/model-registry.ts";
import type { ResourceSource } from "./resource-source.ts";

interface RunnerParts {
  cwd: string;
  resourceLoader: ResourceSource;
  sessionManager: SessionManager;
  modelRegistry: ModelRegistry;
  /** Set to each new runner. */
  runnerRef: { current?: ExtensionRunner } | undefined;
}

/** Holds the runner of the extensions that are loaded; a reload replaces it. */
export class CurrentRunner {
  readonly #parts: RunnerParts;
  #runner: ExtensionRunner;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#runner = this.#create();
  }

  get runner(): ExtensionRunner {
    return this.#runner;
  }

  /** Creates a runner for the extensions that the resource loader has now. */
  replace(): ExtensionRunner {
    this.#runner = this.#create();
    return this.#runner;
  }

  #create(): ExtensionRunner {
    const { cwd, resourceLoader, sessionManager, modelRegistry, runnerRef } = this.#parts;
    const { extensions, runtime } = resourceLoader.getExtensions();
    const runner = new ExtensionRunner(extensions, runtime, cwd, sessionManager, modelRegistry);
    if (runnerRef) runnerRef.current = runner;
    return runner;
  }
}
