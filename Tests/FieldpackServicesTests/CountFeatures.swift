import Fieldpack
import FieldpackServices

/// Opens the stores of all configs of a folder, and counts their features.
func countFeatures(in folder: String, sensors: any Service) async throws -> Int {
  let data = DataService()
  let configs = ConfigService([folder], data: data)
  let graph = try ServiceGraph([sensors, data, configs])
  for (service, error) in await graph.startAll() { print("\(service): \(error)") }
  let count = try await data.workspace.count(Query())
  await graph.stopAll()
  await data.close()
  return count
}
