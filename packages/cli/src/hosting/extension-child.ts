/** The program of the process in which one isolated extension runs. */
import { loadTypeboxModule } from "@tau/extensions";
import { runExtensionChild } from "@tau/extensions/isolated";
import { loadPiModule } from "@tau/pi";

runExtensionChild({
  loadShared: (name, names) =>
    loadTypeboxModule(name) ?? loadPiModule(name, { names, loadSdk: () => import("@tau/pi-sdk") }),
});
