/** Finds the model of a role among those of a registry. */
import { clampThinkingLevel, type Model, type ModelThinkingLevel } from "@tau/ai";
import { assertNever } from "@tau/ai/internal";
import type { DefaultModel } from "./defaults.ts";
import type { ModelResolution } from "./resolve.ts";
import { type RoleModels, type RoleReference, resolveRole } from "./roles.ts";

interface RoleContext {
  roles: RoleModels;
  /** Finds a model by its name, which is not a role. */
  resolve: (name: string) => ModelResolution;
  /** The model where neither the role nor `default` has one. */
  getDefault: () => DefaultModel;
  hasKey: (provider: string) => boolean;
}

export function resolveRoleModel(reference: RoleReference, context: RoleContext): ModelResolution {
  const target = resolveRole(reference, context.roles);
  switch (target.kind) {
    case "model": {
      const { role, name, level, isDefault } = target;
      const resolution = context.resolve(name);
      if (resolution.kind !== "resolved")
        return { ...resolution, message: `The model of the role ${role} cannot be used. ${resolution.message}` };
      return { ...resolution, ...getLevels(resolution.model, level), role, isDefault };
    }
    case "default_model": {
      const choice = context.getDefault();
      if (choice.kind === "none") return { kind: "not_found", nearest: [], message: choice.message };
      const { role, level } = target;
      const { model } = choice;
      const hasKey = context.hasKey(model.provider);
      return { kind: "resolved", model, ...getLevels(model, level), exact: true, hasKey, role, isDefault: true };
    }
    case "unknown_role":
    case "cycle":
      return { kind: "not_found", nearest: [], message: target.message };
    default:
      return assertNever(target);
  }
}

/** Explains why a role cannot be one of a provider. */
export function toRoleOfProvider(spec: string): ModelResolution {
  const message = `${spec.trim()} is a role, and the model of a role has a provider of its own. Leave the provider out.`;
  return { kind: "not_found", nearest: [], message };
}

function getLevels(model: Model, level: ModelThinkingLevel | undefined) {
  if (level === undefined) return {};
  const thinkingLevel = clampThinkingLevel(model, level);
  return { thinkingLevel, ...(thinkingLevel !== level && { askedThinkingLevel: level }) };
}
