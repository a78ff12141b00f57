/** Models of extensions that choose another model for each request. */
import type { Model } from "@tau/ai";
import { toProviderId } from "@tau/ai/internal";

export class VirtualModels {
  /** By whoever set them. */
  readonly #byOwner = new Map<object, readonly Model[]>();

  get isEmpty(): boolean {
    return this.#byOwner.size === 0;
  }

  list(): readonly Model[] {
    return [...this.#byOwner.values()].flat();
  }

  has({ provider, id }: Pick<Model, "provider" | "id">): boolean {
    return this.list().some((model) => model.provider === toProviderId(provider) && model.id === id);
  }

  /** Replaces those of the owner. False if there were none and are none now. */
  set(owner: object, models: readonly Model[]): boolean {
    const before = this.#byOwner.get(owner) ?? [];
    if (before.length === 0 && models.length === 0) return false;
    if (models.length > 0) this.#byOwner.set(owner, models);
    else this.#byOwner.delete(owner);
    return true;
  }
}
