"use strict";
// The page's scripts are one function: nothing of them is reachable from outside, and nothing outside is reached.
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const UNKNOWN = "—";
