// Removes what the servers wrote.
const { rmSync } = require('fs');
const { scratch } = require('./servers');

module.exports = () => rmSync(scratch, { recursive: true, force: true });
