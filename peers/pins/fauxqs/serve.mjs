// Serves fauxqs on loopback only. Its own command binds every interface, whatever
// FAUXQS_HOST says (2.4.1, startFauxqs in app.js), so its application is taken
// without its command. Copied beside node_modules by peers/fauxqs.
import { buildApp } from "fauxqs";

const app = buildApp({ logger: false });
await app.listen({ host: "127.0.0.1", port: Number(process.argv[2]) });
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => app.close().then(() => process.exit(0)));
}
