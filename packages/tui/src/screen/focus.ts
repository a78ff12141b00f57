/**
 * Which component gets keys. An overlay that had the focus gets it back: with the next key, or, if it gave the focus to a
 * component of the document itself, such as a dialog, when that component gives it up.
 */
import { type Component, isFocusable } from "../component.ts";

/** An overlay, as far as the focus is concerned. */
interface FocusOverlay {
  readonly component: Component;
  /** The component that had the focus before. */
  readonly previous: Component | null;
}

interface FocusHost {
  /** Whether visible or not. */
  findOverlay(component: Component | null): FocusOverlay | undefined;
  /** False if it was removed. */
  isVisible(overlay: FocusOverlay): boolean;
  /** Whether the component is in the document. */
  isMounted(component: Component): boolean;
}

interface Claim {
  readonly overlay: FocusOverlay;
  /** The component that has the focus until it gives it up. */
  readonly lentTo?: Component;
  /** Gets the focus after `lentTo`, instead of the overlay. */
  readonly target?: { component: Component | null };
}

export class Focus {
  readonly #host: FocusHost;
  #component: Component | null = null;
  #claim: Claim | undefined;

  constructor(host: FocusHost) {
    this.#host = host;
  }

  get component(): Component | null {
    return this.#component;
  }

  /** With `keepsClaim`, an overlay gets the focus back although nothing has it now. */
  set(component: Component | null, keepsClaim = false): void {
    const next = this.#decide(component, keepsClaim);
    if (isFocusable(this.#component)) this.#component.focused = false;
    this.#component = next;
    if (isFocusable(next)) next.focused = true;
    const overlay = this.#host.findOverlay(next);
    if (overlay && this.#host.isVisible(overlay)) this.#claim = { overlay };
  }

  /** Before each key: gives the focus back to the overlay that may claim it. */
  restore(): void {
    const claim = this.#visibleClaim;
    if (!claim || this.#host.findOverlay(this.#component)) return;
    if (claim.lentTo !== undefined && claim.lentTo === this.#component) return;
    this.set(this.#resolve(claim));
  }

  /** The overlay is gone, or hidden. */
  forget(overlay: FocusOverlay): void {
    if (this.#claim?.overlay === overlay) this.#claim = undefined;
  }

  /** The overlay gives up the focus and its claim: to the target, else to `fallback`. */
  release(overlay: FocusOverlay, fallback: Component | null, options?: { target: Component | null }): void {
    const isFocused = this.#component === overlay.component;
    const claim = this.#claim?.overlay === overlay ? this.#claim : undefined;
    if (!isFocused && !claim) return;
    if (claim?.lentTo !== undefined && claim.lentTo === this.#component) {
      this.#claim = options && { ...claim, target: { component: options.target } };
      return;
    }
    this.forget(overlay);
    if (options) this.set(options.target);
    else if (isFocused) this.set(fallback);
  }

  /** An overlay that is not visible at the moment claims nothing. */
  get #visibleClaim(): Claim | undefined {
    return this.#claim && this.#host.isVisible(this.#claim.overlay) ? this.#claim : undefined;
  }

  #decide(component: Component | null, keepsClaim: boolean): Component | null {
    const claim = this.#visibleClaim;
    const before = this.#component;
    const isGivenUp = claim?.lentTo !== undefined && claim.lentTo === before;
    if (component === null) {
      if (isGivenUp) return this.#resolve(claim);
      if (!keepsClaim) this.#claim = undefined;
      return null;
    }
    if (!claim || this.#host.findOverlay(component)) return component;
    if (isGivenUp) {
      if (claim.target || !this.#host.isMounted(claim.lentTo as Component)) return this.#resolve(claim);
      this.#claim = { ...claim, lentTo: component };
    } else if (claim.overlay.component === before && !this.#hadFocusBefore(claim.overlay, component)) {
      this.#claim = { overlay: claim.overlay, lentTo: component };
    }
    return component;
  }

  #resolve(claim: Claim): Component | null {
    if (!claim.target) return claim.overlay.component;
    this.#claim = undefined;
    return claim.target.component;
  }

  /** Whether the overlay got the focus from the component, directly or through other overlays. */
  #hadFocusBefore(overlay: FocusOverlay, component: Component): boolean {
    const seen = new Set<Component>();
    for (let current = overlay.previous; current && !seen.has(current);) {
      if (current === component) return true;
      seen.add(current);
      current = this.#host.findOverlay(current)?.previous ?? null;
    }
    return false;
  }
}
