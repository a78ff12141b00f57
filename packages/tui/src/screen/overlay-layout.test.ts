import fc from "fast-check";
import { expect, test } from "vitest";
import { resolveOverlayBounds, resolveOverlaySize } from "./overlay-layout.ts";

test("an overlay is on the screen, however large its margins are", () => {
  const margin = fc.record({ top: fc.nat(40), right: fc.nat(40), bottom: fc.nat(40), left: fc.nat(40) });
  const size = fc.record({ columns: fc.integer({ min: 1, max: 30 }), rows: fc.integer({ min: 1, max: 30 }) });
  fc.assert(
    fc.property(fc.oneof(fc.nat(40), margin), size, fc.nat(40), (margins, screen, height) => {
      const { width } = resolveOverlaySize({ margin: margins }, screen);
      const bounds = resolveOverlayBounds({ margin: margins }, screen, { width, height });
      expect(bounds.col + bounds.width).toBeLessThanOrEqual(screen.columns);
      expect(bounds.row + bounds.height).toBeLessThanOrEqual(screen.rows);
    }),
  );
});
