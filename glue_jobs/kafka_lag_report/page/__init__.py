# SPDX-License-Identifier: Apache-2.0
"""The day as one page for a person: gather reads the reports, render writes the HTML.

Pure Python and loaded through import machinery alone, since Glue puts this package on the path
as a zip. The SVG is drawn in the templates, where Jinja2 escapes every name: charting packages
either open their own files by path or bring compiled code.
"""
