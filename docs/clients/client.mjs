// memvault from JavaScript: node client.mjs SOCKET "QUESTION" "SOMETHING TO REMEMBER". Needs no packages.
import { createConnection } from "node:net";
import { createInterface } from "node:readline";

const [path, question, claim] = process.argv.slice(2);
const socket = createConnection(path);
const waiting = new Map();
let last = 0;

function call(method, params) {
  const id = ++last;
  socket.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

createInterface({ input: socket }).on("line", (line) => {
  const { id, result, error } = JSON.parse(line);
  const caller = waiting.get(id);
  if (!caller) return; // a notification, or an error that answers no call
  waiting.delete(id);
  if (error) caller.reject(new Error(`${error.data.code}: ${error.message}`));
  else caller.resolve(result);
});
socket.on("close", () => waiting.forEach(({ reject }) => reject(new Error("the daemon closed"))));
socket.on("error", ({ message }) => console.error(message));

try {
  const { protocol, state } = await call("hello", { client: "client.mjs", version: "1", protocol: 1 });
  console.log(`protocol ${protocol}, the vault is ${state}`);
  const { results } = await call("recall", { query: question });
  for (const hit of results) console.log(`${hit.updated_at.slice(0, 10)} [${hit.trust}] ${hit.content}`);
  const source = { type: "conversation", ref: "client.mjs" };
  const proposal = { content: claim, kind: "fact", scope: "private", source };
  const { outcome, reason } = await call("memory.add", proposal);
  console.log(`${outcome}: ${reason}`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  socket.end();
}
