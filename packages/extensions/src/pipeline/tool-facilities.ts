/** Facilities of a tool in a session: values that it can be configured with, and a log. */
import { format } from "node:util";
import type { ToolFacilities, ToolLogLevel } from "@tau/tools";

const levels: readonly ToolLogLevel[] = ["debug", "info", "warn", "error"];

export function createFacilities(log: (level: ToolLogLevel, text: string) => void): ToolFacilities {
  const config = new Map<string, unknown>();
  const writers = levels.map((level) => [level, (...values: unknown[]) => log(level, format(...values))] as const);
  const logger = Object.fromEntries(writers) as ReturnType<ToolFacilities["getLog"]>;
  return {
    registerConfig(fields) {
      for (const [name, field] of Object.entries(fields)) config.set(name, field.default);
    },
    getConfig: (name) => config.get(name),
    getLog: () => logger,
  };
}
