// Runs each object of objects.json through the validator of its API class: node validate_manifests.mjs FILE
import { readFileSync } from "node:fs";

let faults = 0;
const objects = JSON.parse(readFileSync(process.argv[2], "utf8"));
for (const { file, module, kind, object } of objects) {
  const { [kind]: Model } = await import(module);
  try {
    new Model(object).validate();
  } catch (error) {
    faults += 1;
    console.log(`${file}: ${error.message}`);
  }
}
console.log(`${objects.length} Kubernetes objects, ${faults} against their schema`);
process.exit(faults === 0 ? 0 : 1);
