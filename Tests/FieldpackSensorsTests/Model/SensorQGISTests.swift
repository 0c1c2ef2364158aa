import FieldpackFieldTestSupport
import FieldpackGeometry
import FieldpackSensors
import FieldpackTestSupport
import Foundation
import Testing

/// What QGIS sees of persons (W4): `apt install python3-qgis` (900 MB) enables this.
///
/// From 3.30 on QGIS finds the relations, if its GDAL (3.9) lists the tables that link. With older ones
/// the tables are opened by an option, and the relations made of what the file says of them.
@Suite(
  .programs, .enabled(if: Programs.qgisPython != nil, Comment(rawValue: Programs.noQGISPython)))
struct SensorQGISTests {
  @Test func `QGIS goes from persons to their items, and shows the pictures`() async throws {
    let lines = try await look(
      """
      layers = {name: layer(name, 'option:LIST_ALL_TABLES=YES|') for name in names}
      QgsProject.instance().addMapLayers(layers.values())
      ogr = QgsProviderRegistry.instance().providerMetadata('ogr')
      rows = ogr.createConnection(sys.argv[1], {}).executeSql(
        'SELECT base_table_name, base_primary_column, related_table_name, related_primary_column, '
        'mapping_table_name FROM gpkgext_relations ORDER BY id')
      def relation(link, column, table, key):
        made = QgsRelation()
        made.setId(link + column)
        made.setReferencingLayer(layers[link].id())
        made.setReferencedLayer(layers[table].id())
        made.addFieldPair(column, key)
        print(made.isValid(), link, made.fieldPairs(), table)
        return made
      links = {(base, related): (
          relation(link, 'base_id', base, key), relation(link, 'related_id', related, other))
        for base, key, related, other, link in rows}
      follow(layers, links)
      """)
    #expect(
      lines == [
        "True bio_item_media {'base_id': 'fid'} bio_item",
        "True bio_item_media {'related_id': 'id'} media",
        "True bio_person_item {'base_id': 'id'} bio_person",
        "True bio_person_item {'related_id': 'fid'} bio_item",
      ] + Self.found)
  }

  @Test(.enabled(if: Programs.qgisKnowsRelations, "QGIS is older than 3.30"))
  func `QGIS finds the relations by itself`() async throws {
    let lines = try await look(
      """
      layers = {name: layer(name) for name in names}
      QgsProject.instance().addMapLayers(layers.values())
      found = {r.id(): r for r in QgsRelationManager.discoverRelations([], layers.values())}
      def both(name): return found[name + '_forward'], found[name + '_backward']
      links = {('bio_person', 'bio_item'): both('bio_person_item_features'),
        ('bio_item', 'media'): both('bio_item_media_media')}
      follow(layers, links)
      """)
    #expect(lines == Self.found)
  }

  private static let found = [
    "Kowalska Female ['', 'Female', 'Male', 'Unknown']",
    "  LeftSlap Point (21.01 52.23)", "    ('sensor_data', 4, 2, '#0a141e')",
    "    ('thumbnail', 228, 228, '#0a141e')", "  RightSlap null",
    "Nowak None ['', 'Female', 'Male', 'Unknown']",
    "  RightSlap null",
  ]

  /// What a script prints that looks in QGIS at two persons, the first with two items.
  private func look(_ script: String) async throws -> [String] {
    let file = try SensorFile()
    try await file.run { persons, journal in
      var details = PersonDetails()
      (details.lastName, details.gender) = ("Kowalska", "Female")
      let first = try await persons.add(details)
      var draft = ItemDraft.finger(by: .north)
      draft.position = .init(x: 21.01, y: 52.23)
      let item = try await persons.add(draft, to: first.key)
      try await persons.add(.finger(.rightSlap), to: first.key)
      _ = try await journal.post(SensorDownload("a", of: item))
      details = PersonDetails()
      details.lastName = "Nowak"
      let second = try await persons.add(details)
      try await persons.add(.finger(.rightSlap), to: second.key)
    }
    let result = try await Program.run(
      Programs.qgisPython ?? "",
      ["-c", Self.start + script + "\nsys.stdout.flush()\nos._exit(0)", file.file.path],
      environment: ["HOME": file.file.folder.url.path])
    #expect(result.status == 0, "\(result.error)")
    return result.output.split(separator: "\n").map(String.init)
  }

  /// QGIS 3.22 crashes when Python ends, so the script ends the process.
  private static let start = """
    import os, sys
    os.environ['QT_QPA_PLATFORM'] = 'offscreen'
    from qgis.core import *
    from qgis.PyQt.QtGui import QImage
    app = QgsApplication([], False)
    app.initQgis()
    names = ['bio_person', 'bio_item', 'media', 'bio_person_item', 'bio_item_media']
    def layer(name, option=''):
      return QgsVectorLayer(f'{sys.argv[1]}|{option}layername={name}', name, 'ogr')
    def related(feature, forward, backward):
      return [backward.getReferencedFeature(link) for link in forward.getRelatedFeatures(feature)]
    def picture(media):
      image = QImage.fromData(media['data'])
      middle = image.pixelColor(image.width() // 2, image.height() // 2).name()
      return media['role'], image.width(), image.height(), middle
    def follow(layers, links):
      for person in layers['bio_person'].getFeatures():
        index = layers['bio_person'].fields().indexOf('gender')
        choices = [list(one.values())[0]
          for one in layers['bio_person'].editorWidgetSetup(index).config()['map']]
        print(person['last_name'], person['gender'] or None, choices)
        items = related(person, *links['bio_person', 'bio_item'])
        for item in sorted(items, key=lambda item: item['item_index']):
          place = 'null' if item.geometry().isNull() else item.geometry().asWkt(2)
          print(' ', item['submodality'], place)
          for media in related(item, *links['bio_item', 'media']): print('   ', picture(media))

    """
}
