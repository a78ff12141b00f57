/** The scopes that calls of a run are measured against: those of the client whose prompt began it. */
export class RunScopes {
  /** Undefined: scopes are not asked for. */
  #scopes: ReadonlySet<string> | undefined;

  /** Takes the scopes of a client that says something. What it adds to a run in progress can take scopes from the run only. */
  take(scopes: readonly string[] | undefined, isBusy: boolean): void {
    const before = this.#scopes;
    if (!isBusy) this.#scopes = scopes && new Set(scopes);
    else if (scopes) this.#scopes = new Set(scopes.filter((scope) => before?.has(scope) ?? true));
  }

  has(scope: string): boolean {
    return this.#scopes?.has(scope) ?? true;
  }
}
