// Script of the sign-in page while nobody is signed in.
import { forgetPages } from "./forget.js";

forgetPages().then(() => { document.documentElement.dataset.forgotten = ""; });
