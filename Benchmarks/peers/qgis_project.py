"""Writes a QGIS project whose layers QGIS Server gives as OGC API Features: PROJECT FILE LAYER..."""

import sys

from qgis.core import QgsApplication, QgsProject, QgsVectorLayer

project_file, file, *names = sys.argv[1:]
application = QgsApplication([], False)
application.initQgis()
project = QgsProject.instance()
ids = []
for name in names:
    layer = QgsVectorLayer(f"{file}|layername={name}", name, "ogr")
    if not layer.isValid():
        sys.exit(f"QGIS cannot read the layer {name} of {file}")
    layer.setShortName(name)
    project.addMapLayer(layer)
    ids.append(layer.id())
project.setTitle("serve")
project.writeEntry("WFSLayers", "/", ids)
is_written = project.write(project_file)
project.clear()
application.exitQgis()
if not is_written:
    sys.exit(f"QGIS cannot write {project_file}")
