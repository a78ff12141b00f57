/** The program of the process in which one isolated extension runs. */
import { loadTypeboxModule, runExtensionChild } from "@tau/harness/extensions/isolated";
import { loadPiModule } from "@tau/pi";

runExtensionChild({
  loadShared: (name, names) =>
    loadTypeboxModule(name) ?? loadPiModule(name, { names, loadSdk: () => import("@tau/pi-sdk") }),
});
