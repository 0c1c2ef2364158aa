// Begins the page, and says so where a part of it cannot be loaded.

import { report } from './dom.js';

try {
  const { begin } = await import('./page.js');
  await begin();
  document.body.dataset.ready = 'true';
} catch (error) {
  report(`The map cannot begin: ${error.message}`, { again: () => location.reload() });
}
