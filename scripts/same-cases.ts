/**
 * Gives every run of the tests the same cases of property tests, so that a run fails only because something was changed.
 * `TAU_SEED=random` looks for cases that were never tried, and so does `TAU_LONG=1`; a number repeats a run.
 */
import fc from "fast-check";

const given = process.env["TAU_SEED"] ?? (process.env["TAU_LONG"] === "1" ? "random" : "1");
if (given !== "random") fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given) });
