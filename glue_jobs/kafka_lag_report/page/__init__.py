# SPDX-License-Identifier: Apache-2.0
"""Shows the day as one HTML page: `read_page` reads what it needs, `render` writes the HTML.

Pure Python, loaded only through the import machinery, because Glue puts this package on the path as
a zip. The templates draw the SVG, so that Jinja2 escapes every name. Charting packages open their
own files by path or need compiled code.
"""
